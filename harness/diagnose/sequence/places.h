// places: finds the places of the members' calls in the library's order of a communicator.
//
// rankfault's own count gives each call a place. A call that returned an error may have no place in the
// library's order, because the library refused it before it began. All later places of that member are then
// one too high. So each failed call of MPI and of plain Gloo is read both ways, and the reading that agrees
// longest with the other members is used. A reading is a guess: nothing from the first failed call on is
// proven (Member::unsure_from).
#pragma once

#include <functional>

#include "harness/diagnose/model/view.h"

namespace rankfault {

// Gives the calls of all members their places, removes refused calls from Member::calls, and fills
// Member::unsure_from, Member::shift and CommGroup::broken_from. `own` gives write access to a process of the
// job.
void settle_places(CommGroup&, const std::function<Process&(const Process&)>& own);

// Whether the failed call was the last communication of its process before it ended with an error. Such a
// call keeps its place: no later call of that rank shows another place, and the rank ended as one that made
// the call.
bool ended_by(const Member&, const Call&);

}  // namespace rankfault
