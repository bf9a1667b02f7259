// confirm: runs a scenario, and compares the state of the small job with the one that the evidence has.
#pragma once

#include <atomic>
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

// `scenario`: the text of the file. The run ends when the state is found, when another finding stays, or at
// the scenario's limit. `interrupted`: as in RunOptions. Errors: the scenario cannot be run here.
Result<Confirmation> confirm(const std::string& scenario, const std::string& file, const Case& wanted,
                             const std::atomic<int>* interrupted);

}  // namespace rankfault
