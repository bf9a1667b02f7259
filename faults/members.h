// members: looks up the members of a communicator in the flight records.
#pragma once

#include <vector>

#include "harness/facts/run_facts.h"

namespace rankfault {

// The processes of all other members, of the same attempt.
std::vector<const ProcessView*> peers_on(const RunFacts&, const ProcessView& but, uint64_t comm_id);

}  // namespace rankfault
