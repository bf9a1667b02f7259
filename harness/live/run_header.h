// run_header: the journal's first line: what is run, from which source, and on which machine.
#pragma once

#include <string>

#include "harness/diagnose/finding.h"
#include "harness/journal/journal.h"
#include "harness/observe/observer.h"
#include "harness/plan/plan.h"

namespace rankfault {

// `cuda_double`: the version of NCCL over the double of CUDA; "": the job does not run over it.
void journal_run_begin(const Plan&, const std::string& reference_run, const DiagnoseOptions&,
                       const std::string& cuda_double, Journal&);
// Journals what the records of a long or fast job no longer hold, if anything.
void journal_losses(const Observer&, Journal&);

// True when every expectation of the plan can be judged now and no later event can change the verdicts.
bool all_decided(const Plan&, const std::string& run_dir);

}  // namespace rankfault
