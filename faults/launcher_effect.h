// launcher_effect: shared by node_kill and launcher_kill: which processes they kill, and how the end is
// verified.
#pragma once

#include "faults/effect.h"

namespace rankfault {

Result<std::vector<Action>> lower_to_launcher(const FaultSpec&, const LowerContext&, const char* act);
EffectReport launcher_ended(const Action&, const GateEvent&, const RunFacts&);

}  // namespace rankfault
