// run_header: the journal's first line: what is run, from what, on what.
#pragma once

#include <string>

#include "harness/diagnose/finding.h"
#include "harness/observe/observer.h"
#include "harness/plan/plan.h"
#include "harness/run/journal.h"

namespace rankfault {

// `cuda_double`: the version of NCCL over the double of CUDA; "" the job is not over it.
void journal_run_begin(const Plan&, const std::string& reference_run, const DiagnoseOptions&,
                       const std::string& cuda_double, Journal&);
// What the records of a long or a fast job no longer hold, if anything.
void journal_losses(const Observer&, Journal&);
const char* launcher_name(LauncherKind);  // its name in Catalog<Launcher>

// True when every expectation of the plan can be judged now and no later event can change it.
bool all_decided(const Plan&, const std::string& run_dir);

}  // namespace rankfault
