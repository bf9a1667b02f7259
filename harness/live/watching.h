// watching: what a job that runs without a scenario is told of, and when.
#pragma once

#include <functional>
#include <vector>

#include "harness/live/evidence_taker.h"
#include "harness/live/looks.h"
#include "harness/scenario/scenario.h"

namespace rankfault {

// A job without a scenario: it is left alone for as long as it likes, and told of while it runs.
struct WatchOptions {
  bool verbose = false;         // list what is changed of the job's command and environment
  bool end_on_finding = false;  // when the job cannot go on, by a proof or by what is inferred
  std::function<void(const std::vector<Finding>&)> found;          // new or changed, withdrawn ones too
  std::function<void(const std::vector<RankEvidence>&)> evidence;  // of all ranks
};

// How a run is looked at; null: the run of a scenario, of which nothing is told before its end.
LookOptions look_options(const Workload&, const WatchOptions*, EvidenceTaker&);
DiagnoseOptions diagnose_options(const Workload&);
bool cannot_go_on(const Findings&);

}  // namespace rankfault
