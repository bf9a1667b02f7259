// confirm: runs a scenario, and compares the state of the small job with the one that the evidence has.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "harness/base/result.h"
#include "harness/reproduce/case.h"

namespace rankfault {

struct Confirmation {
  bool reproduced = false;
  std::string why_not;  // what differs
  HangState got;
  std::string run_dir;
  double to_finding_s = 0;  // from the start of the run
};

struct ConfirmOptions {
  std::string runs;  // folder of run directories; "": the usual one
  const std::atomic<int>* interrupted = nullptr;
};

// `scenario`: the text of the file. The run ends when the state is found, or at the scenario's limit.
// Errors: the scenario cannot be run here.
Result<Confirmation> confirm(const std::string& scenario, const std::string& file, const Case& wanted,
                             const ConfirmOptions&);

}  // namespace rankfault
