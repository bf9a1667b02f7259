// clocks: the order of events of a job on several hosts. Times of one node are of one clock, and compare
// exactly. Times of two nodes are known up to the errors of both, and have an order only where these
// intervals do not overlap.
#pragma once

#include <string>

#include "harness/observe/timeline.h"

namespace rankfault {

// Whose clock an instant is of, and how far it may be from the tool's clock.
struct NodeClock {
  // The node whose clock it is. "" with error 0: the host of the tool. "" with an error: the event is of
  // several nodes, and no single clock dates it.
  std::string node;
  Duration error{};
  bool operator==(const NodeClock&) const = default;
};

// A node's records are copied for a look. A copy of a rank that runs is at most this much older than it.
constexpr Duration kOldestCopy = 200ms;

NodeClock clock_of(const ProcessView&);
// By how much the difference of two of their times may be wrong; 0: both are of one clock.
Duration error_between(const NodeClock&, const NodeClock&);
Duration error_between(const ProcessView&, const ProcessView&);

// Whether an event of `a` came before an event of `b`: certainly, and possibly.
bool certainly_before(const ProcessView& a, Instant at, const ProcessView& b, Instant bt);
bool maybe_before(const ProcessView& a, Instant at, const ProcessView& b, Instant bt);
bool certainly_before(const NodeClock& a, Instant at, const NodeClock& b, Instant bt);
bool maybe_before(const NodeClock& a, Instant at, const NodeClock& b, Instant bt);

// Returns why the order of the two events is not known: "the clocks of nodes n1 and n2 differ by up to 3.2ms,
// and these events are 1.1ms apart"; "" if it is known.
std::string why_unordered(const ProcessView& a, Instant at, const ProcessView& b, Instant bt);

}  // namespace rankfault
