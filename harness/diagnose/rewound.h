// rewound: the job as it stood before its ranks gave up.
//
// When a hang is ended by the ranks' own limits, each call that hung ends with an error, or is never seen
// complete, and its process with a code; who waited for whom is then told by nobody's state any more. So a
// process that ended, and whose last call did not succeed, is put back inside that call. It made no call
// after it, so what is shown of such a job stays true of the whole record: whatever a call waits for there,
// it never got.
#pragma once

#include <optional>

#include "harness/diagnose/proof.h"

namespace rankfault {

struct Rewound {
  explicit Rewound(Timeline t) : timeline(std::move(t)), job(timeline) {}
  Timeline timeline;
  JobView job;
  bool is_deadlock = false;
};

// The call whose error was the last that the process heard of its peers; null when its last call was no
// failure.
const Call* gave_up_in(const Process&);

// Whether a call that lasted until then may have been refused (an argument, a type): the library returns from
// such a call at once, and it keeps nobody waiting.
bool may_have_been_refused(const Call&, TimeNs until);

// None when nobody gave up. Waits stay as they ended: what they waited for was not kept. A nonblocking
// collective that was never seen complete is taken for one that its rank polled, where a rank of the job
// aborted.
std::optional<Timeline> before_ranks_gave_up(const JobView&);

// Whether the edge's call, blocking in the rewound job, was nonblocking: that its rank waited for it is a
// guess.
bool was_nonblocking(const JobView& as_recorded, const WaitEdge&);

}  // namespace rankfault
