// lowering: what all kinds share when they turn their parameters into actions.
#pragma once

#include <functional>

#include "faults/fault.h"

namespace rankfault {

// One action for each victim, with the fault's trigger and times; `fill` adds the verb.
std::vector<Action> for_each_victim(const FaultSpec&, const LowerContext&,
                                    const std::function<void(Action&)>& fill);

// A trigger nobody wrote would fire at the first collective of the job: refused.
Status need_trigger(const FaultSpec&);
// Verbs that work on a library call: refused at files and marks, with the reason.
Status need_library_call(const FaultSpec&, const char* what);

}  // namespace rankfault
