// page_runs: runs for the tests of the HTML report, made in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reports/report.h"
#include "tests/judge/facts.h"

namespace rankfault::test {

// A run with its facts.
struct MadeRun {
  std::unique_ptr<Facts> facts;
  RunReport report;
};

// Makes the report of these facts as a run of that scenario.
MadeRun made(std::unique_ptr<Facts> facts, const std::string& scenario);

// Gives every process the communicator "world" over all ranks.
void join_world(Facts&);

// Rank 2 is killed at 100 ms, in all_reduce 3; the others fail in it.
MadeRun killed_run();

// Ranks that make `calls` calls each of some microseconds, in steps of ten; the last rank leaves out its last
// call, and all others wait in it until they fail.
MadeRun long_run(int ranks, int calls);

// Every text that a job can choose is this one.
MadeRun hostile_run(const std::string& name);

}  // namespace rankfault::test
