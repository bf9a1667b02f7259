// upper_call: gates at calls that have no record, because the calls that they make are recorded (c10d over
// NCCL).
#pragma once

#include <vector>

#include "harness/facts/run_facts.h"
#include "harness/observe/call_history.h"

namespace rankfault {

// The gate with the communicator on which the calls below it are recorded. The gate of a group's first call
// does not know it: the communicator was made later.
GateEvent with_communicator(GateEvent, const ProcessView& victim);

// The communicators of the process that a call at this gate may use.
std::vector<const CommView*> communicators_of(const GateEvent&, const ProcessView&);

// Whether a call of the victim is the one at the gate or, of an upper call, may be one that it made.
bool may_be_of(const RecordedCall&, const GateEvent&);

}  // namespace rankfault
