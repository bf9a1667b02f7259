// watch_options: what the user of a job without a scenario learns of it while it runs.
#pragma once

#include <functional>
#include <vector>

#include "harness/live/diagnosis_loop.h"
#include "harness/live/evidence_taker.h"
#include "harness/scenario/scenario.h"

namespace rankfault {

struct Hang {
  const std::string& run_dir;
  const Timeline& timeline;
  const std::vector<Finding>& findings;       // those that are new
  const std::vector<RankEvidence>& evidence;  // empty: none was taken
};

// A job without a scenario: the tool leaves it alone, without a time limit, and reports findings while it
// runs.
struct WatchOptions {
  bool verbose = false;         // list what is changed in the job's command and environment
  bool end_on_finding = false;  // end the job when a proven or inferred finding says that it cannot go on
  std::function<void(const std::vector<Finding>&)> found;          // findings that are new or changed,
                                                                   // including withdrawn ones
  std::function<void(const std::vector<RankEvidence>&)> evidence;  // of all ranks
  // Called after those two when evidence was taken, and when a new finding says that the job hangs; may be
  // empty.
  std::function<void(const Hang&)> hangs;
};

// How a run is looked at; null `WatchOptions`: the run of a scenario, which reports nothing before its end.
LookOptions look_options(const Workload&, const WatchOptions*, EvidenceTaker&);
DiagnoseOptions diagnose_options(const Limits&);
bool cannot_go_on(const Findings&);

}  // namespace rankfault
