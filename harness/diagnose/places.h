// places: which places the calls of a communicator's members have in the library's order.
//
// Our count gives each call a place. A call that returned an error may have taken none in the library's: it
// was refused before it began. Then all later places of that member are one too high. So each failed call of
// MPI and of plain Gloo is read both ways, and the reading that agrees longest with the other members is
// taken. A reading is a guess: nothing from the first failed call on is proven (Member::unsure_from).
#pragma once

#include <functional>

#include "harness/diagnose/view.h"

namespace rankfault {

// Gives the calls of all members their places, takes refused calls out of Member::calls, and fills
// Member::unsure_from, Member::shift and CommGroup::broken_from. `own` gives write access to a process of the
// job.
void settle_places(CommGroup&, const std::function<Process&(const Process&)>& own);

// Whether the failed call was the last that its process asked of its peers before it ended with an error. It
// keeps its place: no later call of that rank shows another one, and the rank ended as one that made it.
bool ended_by(const Member&, const Call&);

}  // namespace rankfault
