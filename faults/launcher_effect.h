// launcher_effect: what node_kill and launcher_kill share: whom they kill, and how its end is seen.
#pragma once

#include "faults/effect.h"

namespace rankfault {

Result<std::vector<Action>> lower_to_launcher(const FaultSpec&, const LowerContext&, OutsideVerb);
EffectReport launcher_ended(const Action&, const GateEvent&, const RunFacts&);

}  // namespace rankfault
