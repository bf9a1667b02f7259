// effect: what all kinds share when they say, from the run's facts, whether a fault bit.
#pragma once

#include <functional>
#include <optional>

#include "faults/fault.h"
#include "harness/run/run_facts.h"

namespace rankfault {

// What one firing of one action led to.
using VerifyOne = std::function<EffectReport(const Action&, const GateEvent&, const RunFacts&)>;

// Every action of the fault must have fired and its firings be verified: the worst one speaks for
// the fault, the earliest effect is when it began. Timed actions and kWatch are not asked.
EffectReport verify_each(const FaultSpec&, const RunFacts&, const VerifyOne&);

EffectReport verified(std::string how, TimeNs at, std::vector<uint64_t> lines = {});
EffectReport not_bitten(std::string how, std::vector<uint64_t> lines = {});  // void
EffectReport cannot_tell(std::string how, std::vector<uint64_t> lines = {});

// When the harness let the victim go on, or it acted: the earliest of what is known.
TimeNs acted_at(const GateEvent&);

// An action of a fault other than `own` that was at work by then: it fired, in that attempt if one is given,
// or its action was done before the job was started. What ranks do afterwards may be its doing. Null: none
// was.
const Action* another_fault(const std::string& own, const RunFacts&, std::optional<int> attempt, TimeNs by);

const RankEnd* end_of(const GateEvent&, const RunFacts&);
const ProcessView* process_of(const GateEvent&, const RunFacts&);
// A journal line `fault_effect` about this fault's action with that `what`; null.
const Json* effect_line(const Action&, const RunFacts&, const std::string& what);
uint64_t line_number(const Json&);

}  // namespace rankfault
