// first_difference: the first place of a communicator at which two members made different calls.
#pragma once

#include "harness/diagnose/view.h"

namespace rankfault {

// Finalize stands in the count, but it is the end of a sequence, not a call the others must match. Nor is a
// communicator's free, unless somebody waits in it: a rank that keeps the communicator leaks it, and harms
// nobody.
bool others_match(const Call&);

// The place, as far as the members' records reach; 0: none. The group keeps the answer.
uint64_t first_difference(const CommGroup&);

}  // namespace rankfault
