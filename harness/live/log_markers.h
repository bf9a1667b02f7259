// log_markers: marks read from the log lines of a workload that makes none itself.
#pragma once

#include "harness/plan/plan.h"
#include "harness/run/journal.h"
#include "harness/run/run_dir.h"

namespace rankfault {

// After the run: each match of a `markers:` expression in logs/rank-N.aM.log, with its offset.
void journal_log_markers(const Plan&, const RunDir&, Journal&);

}  // namespace rankfault
