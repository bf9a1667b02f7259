// reproduce_runs: what `reproduce` runs once it has written a scenario: the confirmation, the smaller jobs,
// the defences.
#pragma once

#include <atomic>
#include <string>

#include "harness/reproduce/reproduce.h"

namespace rankfault {

struct ReproduceRuns {  // what they share
  std::string path;     // of the scenario file
  std::string digest;   // of the evidence
  int times = 1;
  ReproduceOptions how;
  const std::atomic<int>* interrupted = nullptr;  // the signal that the user sent; 0: none
};

// Each prints what it sees, and returns the exit code of the command.
//
// The scenario must hang as the case does, each of `times` times. Where the kind was guessed, the file then
// expects the kind that the small job shows.
int run_to_confirm(const ReproduceRuns&, Written&, const Case& wanted);
// Leaves out what the hang does not need, and writes the file again.
int run_to_shrink(const ReproduceRuns&, const Case& small, const std::string& expected_kind);
// `limit_ms`: of the call in the evidence; -1: not known.
int run_with_defences(const ReproduceRuns&, const Written&, int64_t limit_ms);

void say(const char* word, const std::string& text);  // one line of the output
Status write_text(const std::string& path, const std::string& text);
int fail_to_reproduce(const Error&);  // prints it; returns its exit code

}  // namespace rankfault
