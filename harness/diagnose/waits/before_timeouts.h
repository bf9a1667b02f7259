// before_timeouts: reconstructs the job as it stood before its ranks gave up.
//
// When the ranks' own limits end a hang, each call that hung ends with an error or is never seen complete,
// and its process ends with a status. The final states then no longer show which rank waited for which. So a
// process that ended, and whose last call did not succeed, is put back inside that call. It made no call
// after it, so what is shown for the rewound job holds for the whole record: such a call never got what it
// waited for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/diagnose/proof/proof.h"

namespace rankfault {

struct JobBeforeTimeouts {
  explicit JobBeforeTimeouts(Timeline t) : timeline(std::move(t)), job(timeline) {}
  Timeline timeline;
  JobView job;
  bool is_deadlock = false;
};

// Returns the call whose error was the last that the process got from its peers; null if its last call did
// not fail.
const Call* gave_up_in(const Process&);

// Whether the library may have refused a call that lasted until then (an argument, a type). The library
// returns from such a call at once, and no rank waits because of it.
bool may_have_been_refused(const Call&, Instant until);

// Returns nothing if no rank gave up. Waits stay as they ended, because their requests were not kept. If a
// rank of the job aborted, a nonblocking collective that was never seen complete is taken as one that its
// rank polled.
std::optional<Timeline> before_ranks_gave_up(const JobView&);

// Whether the edge's call, blocking in the rewound job, was nonblocking. That its rank waited for it is then
// a guess.
bool was_nonblocking(const JobView& as_recorded, const WaitEdge&);

// Returns why it is not certain that the ranks of these edges, which are inside calls of the rewound job,
// were inside them at one instant: the clocks of two nodes do not tell. "" if it is certain.
std::string why_not_together(const JobView& as_recorded, const std::vector<WaitEdge>&);

}  // namespace rankfault
