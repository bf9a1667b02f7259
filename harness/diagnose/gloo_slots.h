// gloo_slots: which calls of plain Gloo meet. Gloo finds the messages of a call by its slot, which is made of
// the operation and the tag (gloo/types.h): an all_reduce and a broadcast of one tag never meet, and need no
// common order. A place counts the calls of a tag in program order.
#pragma once

#include <vector>

#include "harness/diagnose/proof.h"

namespace rankfault {

// Of members whose calls differ from this place on: whether each call meets its like by its slot, as far as
// the members have come, and whoever lacks one that others are in may yet make it. Then nothing is wrong.
bool each_meets_its_like(const CommGroup&, uint64_t from_seq);

// What is compared must be of one slot: else Gloo pairs none of it, and the order proves nothing.
Assumption same_slot(const std::vector<WaitEdge>&);

}  // namespace rankfault
