// streams: finds the ranks that delay a job whose work runs in streams, as far as a recorder inside its
// processes reports what was enqueued, started and completed.
//
// A rank waits if it has pending work that another member never enqueued. A rank that others wait for and
// that waits for no other rank is the origin. The record does not show that one stream waits for another in
// the same process, so no such finding is proven.
#pragma once

#include <set>

#include "harness/diagnose/model/view.h"

namespace rankfault {

struct RanksBehind {
  enum class Why {
    kNobody,
    kNotEnqueued,   // others wait for work that these ranks did not enqueue
    kNotStarted,    // all ranks enqueued the work; it runs on others
    kNotCompleted,  // the others completed work that is still pending here: the device does not continue
    kNoRecord,      // all ranks that left a record came; these left none
    kCircle,        // all ranks that others wait for also wait
  } why = Why::kNobody;
  std::set<int> ranks;               // world ranks; of a circle: those whose work was missed first
  std::set<int> device_stuck;        // of these, the ranks with pending work that others have completed
  std::set<int> completed_it;        // the ranks that completed the first such work
  const CommGroup* group = nullptr;  // of the first work that ranks wait for
  const Call* call = nullptr;        // of a waiter
};
RanksBehind ranks_behind(const JobView&);

}  // namespace rankfault
