// first_difference: finds the first place of a communicator at which two members made different calls.
#pragma once

#include "harness/diagnose/model/view.h"

namespace rankfault {

// Whether the other members must match the call. Finalize is counted, but it ends a sequence and needs no
// match. Neither does the free of a communicator, unless a rank waits in it: a rank that keeps the
// communicator leaks it and harms no other rank.
bool others_match(const Call&);

// Returns the place, as far as the members' records reach; 0: none. The group caches the answer.
uint64_t first_difference(const CommGroup&);

}  // namespace rankfault
