// late_ranks: finds live ranks that other ranks have waited for longer than is usual in this job, and that
// are in no call whose needs are known.
#pragma once

#include "harness/diagnose/finding.h"
#include "harness/diagnose/timing/wait_thresholds.h"

namespace rankfault {

struct LateRank {
  const Process* process = nullptr;
  std::vector<WaitEdge> edges;  // waiting ranks; the first edge is on the communicator of the longest wait
  enum class Why {
    kSlow,       // it runs its own code
    kElsewhere,  // it keeps making other calls
    kAsleep,     // it sleeps and uses no CPU
    kWaits,      // it waits itself: it polls, or is in a call that is known only by its name
  } why = Why::kSlow;
  WaitThreshold patience;  // the patience that was exceeded
  // The rank has slept or polled for so long that a finding may call it hung. Never true in a call of all
  // members that is known only by its name: a collective write of a file may take any time.
  bool hung = false;
};

// Ranks that have finished, ended or stopped are not late: other rules report them.
inline const std::vector<LateRank>& late_ranks(const JobView& job, const DiagnoseOptions& options) {
  return job.late_ranks(options);
}

// Makes a finding of that kind about a late rank. It blames the rank unless the rank itself waits.
Finding late_finding(const JobView&, const LateRank&, const char* kind);

// Whether all threads of the process sleep and it has used no CPU time for hung_after.
bool is_asleep(const Process&, Instant look, const DiagnoseOptions&);

}  // namespace rankfault
