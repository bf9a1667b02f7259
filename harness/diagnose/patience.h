// patience: how long a wait or an absence may last before an inferred finding tells of it. Learned from the
// job's own record: what it did before and came back from is no sign of trouble.
#pragma once

#include <string>

#include "harness/diagnose/waits.h"

namespace rankfault {

struct Patience {
  Duration limit{0};    // up to it nothing is told
  Duration longest{0};  // the longest of its kind so far that came to its end; 0: none

  // "for more than 2s; the longest such wait before was 800ms". Has no elapsed time in it: the same text at
  // every look.
  std::string told() const;
};

// Of members that do not come while others wait for them in calls of this operation on this communicator: its
// like are such waits, and the times in which a member was in no call at all.
Patience patience_with_absence(const JobView&, const CommGroup&, const WaitEdge&, Duration floor);
// Of a rank that does not come to the initialisation of a communicator of NCCL: the times in which a rank was
// in no call at all, and such initialisations.
Patience patience_with_joining(const JobView&, Duration floor);
// Of a call that every member is in: its like is the time from the last entry to the end.
Patience patience_with_completion(const CommGroup&, uint16_t op, Duration floor);
// Of a plain send that the library holds back.
Patience patience_with_sends(const CommGroup&, Duration floor);

// The limit for who had no core for so long: it grows by that time, by at most twice the patience.
Duration while_starved(Duration limit, Duration patience, TimeNs starved);

// When the process came out of the newest call of its lanes, files and calls known by name alone apart;
// `opened` when it made none. It must be in none now.
TimeNs outside_since(const Process&);

// Since when the waiter sits there because of this edge: work that was begun before and overlaps does not
// count.
TimeNs waits_since(const WaitEdge&);
Duration lasted(TimeNs from, TimeNs to);  // 0 when `to` is the earlier one

}  // namespace rankfault
