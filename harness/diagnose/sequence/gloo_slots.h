// gloo_slots: finds which calls of plain Gloo pair with each other. Gloo matches the messages of a call by
// its slot, which consists of the operation and the tag (gloo/types.h). So an all_reduce and a broadcast with
// the same tag never pair and need no common order. A place counts the calls of a tag in program order.
#pragma once

#include <vector>

#include "harness/diagnose/proof/proof.h"

namespace rankfault {

// For members whose calls differ from this place on: whether each call so far pairs with an equal call by its
// slot, and each member that lacks a call others are in may still make it. If so, nothing is wrong.
bool each_meets_its_like(const CommGroup&, uint64_t from_seq);

// The compared calls must share one slot. Otherwise Gloo does not pair them, and their order proves nothing.
Assumption same_slot(const std::vector<WaitEdge>&);

}  // namespace rankfault
