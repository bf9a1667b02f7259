// left_out_send: finds the send that a rank left out in one round of a loop, when another rank waits for a
// message of it forever.
#pragma once

#include <optional>

#include "harness/diagnose/waits/waits.h"

namespace rankfault {

struct LeftOutSend {
  const Call* example;  // such a send of another round
  const Call* after;    // the call that began the next round: the send is missing before it
};

// Looks at the calls of the awaited rank. A round lasts from one call to the next call from the same place in
// the program with the same arguments. One round lacks the message: it has one send to the waiting rank fewer
// than each other round. At least two complete rounds precede it. Returns nothing if no round lacks one.
// The edge must be known not to be served: the records of both ranks are then whole.
std::optional<LeftOutSend> left_out_send(const WaitEdge&);

}  // namespace rankfault
