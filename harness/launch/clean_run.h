// clean_run: finishes what a killed tool and a killed guardian left of a run.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rankfault {

struct CleanReport {
  int ended = 0;   // number of processes
  int undone = 0;  // entries of the undo list
  std::vector<std::string> failed;
  std::vector<std::string> left;  // files of the job that are not removed
};

// Refuses a live run, waits for a guardian that is still at work, and may be called again at any time. A
// process belongs to the job when its environment names this run and it started after the run began, or when
// it descends from such a process.
Result<CleanReport> clean_run(const std::string& run_dir);

}  // namespace rankfault
