// late: live ranks that others have waited for longer than is usual in this job, and that are in no call
// whose needs are known.
#pragma once

#include "harness/diagnose/finding.h"
#include "harness/diagnose/patience.h"

namespace rankfault {

struct Late {
  const Process* process = nullptr;
  std::vector<WaitEdge> edges;  // those who wait for it; the first is on the communicator of the longest wait
  enum class Why {
    kSlow,       // it runs its own code
    kElsewhere,  // it keeps making other calls
    kAsleep,     // it sleeps and uses no CPU
    kWaits,      // it waits itself: it polls, or is in a call that is known by its name alone
  } why = Why::kSlow;
  Patience patience;  // that has come to its end
  // It has slept or polled for so long that it may be called hung. Never in a call of all members that is
  // known by its name alone: a collective write of a file may take as long as it likes.
  bool hung = false;
};

// Ranks that have finished, ended or are stopped are not late: other rules report them.
inline const std::vector<Late>& late_ranks(const JobView& job, const DiagnoseOptions& options) {
  return job.late_ranks(options);
}

// A finding of that kind about a late rank, which it blames unless the rank waits itself.
Finding late_finding(const JobView&, const Late&, const char* kind);

// Whether all its threads sleep and it has used no CPU time for hung_after.
bool is_asleep(const Process&, TimeNs look, const DiagnoseOptions&);

}  // namespace rankfault
