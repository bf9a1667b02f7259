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
  bool hung = false;  // it has slept for so long that it may be called hung
};

std::string where_it_is(const Late&);  // "runs outside any call", "sleeps in MPI_File_write"

// Ranks that have finished, ended or are stopped are not late: other rules speak of them.
std::vector<Late> late_ranks(const JobView&, const DiagnoseOptions&);

// Whether all its threads sleep and it has used no CPU time for hung_after.
bool is_asleep(const Process&, TimeNs look, const DiagnoseOptions&);

}  // namespace rankfault
