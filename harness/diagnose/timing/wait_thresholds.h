// wait_thresholds: how long a wait or an absence may last before an inferred finding reports it. It is
// learned from the job's own record: a wait that the job recovered from before is not a sign of a fault.
#pragma once

#include <string>

#include "harness/diagnose/waits/waits.h"

namespace rankfault {

struct WaitThreshold {
  Duration limit{0};    // up to this time nothing is reported
  Duration longest{0};  // the longest completed wait of its kind so far; 0: none

  // Returns "for more than 2s; the longest such wait before was 800ms". It contains no elapsed time, so the
  // text is the same at every look.
  std::string text() const;
};

// For members that are absent while others wait for them in calls of this operation on this communicator. It
// learns from such waits and from the times in which a member was in no call.
WaitThreshold patience_with_absence(const JobView&, const CommGroup&, const WaitEdge&, Duration floor);
// For a rank that does not come to the initialisation of an NCCL communicator, or to a group of PyTorch. It
// learns from the times in which a rank was in no call, and from such initialisations.
WaitThreshold patience_with_joining(const JobView&, Duration floor);
// For a call that every member is in. It learns from the times from the last entry to the end.
WaitThreshold patience_with_completion(const CommGroup&, uint16_t op, Duration floor);
// For a standard send that the library holds back.
WaitThreshold patience_with_sends(const CommGroup&, Duration floor);

// Returns the limit for a process that had no core for the time `starved`: the limit grows by that time, at
// most by twice the patience.
Duration while_starved(Duration limit, Duration patience, Duration starved);

// Returns when the process left the newest call of its lanes, ignoring file calls and calls known only by
// name; `opened` if it made none. The process must be outside such calls now.
Instant outside_since(const Process&);

// Returns since when the waiter has been held by this edge. Earlier work that overlaps does not count.
Instant waits_since(const WaitEdge&);

}  // namespace rankfault
