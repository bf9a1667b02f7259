// log_markers: reads marks from the log lines of a workload that makes no marks itself.
#pragma once

#include "harness/journal/journal.h"
#include "harness/plan/plan.h"
#include "harness/run_dir/run_dir.h"

namespace rankfault {

// After the run: journals each match of a `markers:` expression in logs/rank-N.aM.log, with its offset.
void journal_log_markers(const Plan&, const RunDir&, Journal&);

}  // namespace rankfault
