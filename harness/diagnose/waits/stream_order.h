// stream_order: finds operations of NCCL that wait for each other in a circle because of the order in which
// ranks put them on their streams (stream_entries.h).
#pragma once

#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "harness/diagnose/model/stream_entries.h"

namespace rankfault {

struct StreamKnot {
  // Calls of one circle, a shortest one through the earliest call. Each waits for the next one.
  struct Step {
    const CommGroup *group = nullptr, *before_group = nullptr;
    const Member* at = nullptr;    // the member that has `before` first or waits for it
    const Call* call = nullptr;    // the call that waits for the part of `at`
    const Call* part = nullptr;    // null: `at` has not made it and waits for `before`
    const Call* before = nullptr;  // of `at`
  };
  std::vector<Step> steps;
  // For all members: which collective each put first, given by the communicator of that collective.
  std::vector<std::pair<const CommGroup*, const Member*>> camps;
  // The calls that cannot begin because of this circle or another one: they are in a circle or behind it on a
  // stream.
  std::unordered_set<const Call*> stuck;
};

// JobView::stream_knot() returns the first knot. It is empty if there is none, or while its calls are younger
// than slow_after.

// A member of a knot that made a call without first making the call that preceded it in each earlier round.
struct LeftOut {
  const CommGroup* group = nullptr;
  const Member* member = nullptr;
  const Call* example = nullptr;  // the newest call of an earlier round at that position
  const Call* after = nullptr;    // the call made without it
};
std::optional<LeftOut> left_out(const StreamKnot&);

}  // namespace rankfault
