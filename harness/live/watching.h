// watching: what a job that runs without a scenario is told of, and when.
#pragma once

#include <functional>
#include <vector>

#include "harness/live/evidence_taker.h"
#include "harness/live/looks.h"

namespace rankfault {

// A job without a scenario: it is left alone for as long as it likes, and told of while it runs.
struct WatchOptions {
  Duration after =
      DiagnoseOptions().slow_after;  // from when on a call that is open may be called slow or stuck
  bool end_on_finding = false;
  std::function<void(const std::vector<Finding>&)> found;          // new or changed, withdrawn ones too
  std::function<void(const std::vector<RankEvidence>&)> evidence;  // of all ranks, once an attempt
};

// How a run is looked at; null: the run of a scenario, of which nothing is told before its end.
LookOptions look_options(const WatchOptions* watch, EvidenceTaker& taker);
DiagnoseOptions diagnose_options(const WatchOptions* watch);
bool found_something(const Findings&);

}  // namespace rankfault
