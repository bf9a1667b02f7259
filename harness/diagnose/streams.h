// streams: who keeps a job waiting whose work is in streams, as far as a recorder inside its processes told:
// what was enqueued, started and completed.
//
// A rank waits where work of it is pending that another member never enqueued. A rank that is waited for and
// waits for nobody itself is where it began. What one stream waits for in another of the same process was not
// recorded, so nothing of this is proven.
#pragma once

#include <set>

#include "harness/diagnose/view.h"

namespace rankfault {

struct Laggards {
  enum class Why {
    kNobody,
    kNotEnqueued,   // others wait for work that they did not enqueue
    kNotStarted,    // all enqueued it, on others it runs
    kNotCompleted,  // the others completed what stays pending there: the device does not go on
    kNoRecord,      // everybody who left a record came; these left none
    kCircle,        // all that are waited for wait themselves
  } why = Why::kNobody;
  std::set<int> ranks;               // world ranks; of a circle: those whose work was missed first
  std::set<int> device_stuck;        // of them, those whose own work others have completed
  const CommGroup* group = nullptr;  // of the first work that is waited for
  const Call* call = nullptr;        // of a waiter
};
Laggards laggards(const JobView&);

}  // namespace rankfault
