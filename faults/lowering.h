// lowering: shared by all kinds that turn their parameters into actions.
#pragma once

#include <functional>

#include "faults/fault.h"

namespace rankfault {

// One action for each victim, with the fault's trigger and times; `fill` adds the verb.
std::vector<Action> for_each_victim(const FaultSpec&, const LowerContext&,
                                    const std::function<void(Action&)>& fill);

// Refuses a missing trigger: it would fire at the first collective of the job.
Status need_trigger(const FaultSpec&);
// For verbs that work on a library call: refuses triggers at files and marks, with the reason.
Status need_library_call(const FaultSpec&, const char* what);

}  // namespace rankfault
