// effect: shared by all kinds that decide from the run's facts whether a fault had an effect.
#pragma once

#include <functional>
#include <optional>

#include "faults/fault.h"
#include "harness/facts/run_facts.h"

namespace rankfault {

// The result of one firing of one action.
using VerifyOne = std::function<EffectReport(const Action&, const GateEvent&, const RunFacts&)>;

// Every action of the fault must have fired, and its firings must be verified. The worst firing decides for
// the fault; the fault began at the earliest effect. Actions for later and those that only record are left
// out.
EffectReport verify_each(const FaultSpec&, const RunFacts&, const VerifyOne&);

EffectReport verified(std::string how, Instant at, std::vector<uint64_t> lines = {});
EffectReport not_bitten(std::string how, std::vector<uint64_t> lines = {});  // void
EffectReport cannot_tell(std::string how, std::vector<uint64_t> lines = {});

// When the harness let the victim continue, or when it acted: the earliest known time.
Instant acted_at(const GateEvent&);

// An action of a fault other than `own` that was in force by then: it fired, in that attempt if one is given,
// or it was done before the job started. It may have caused what ranks do afterwards. Null: there was none.
const Action* another_fault(const std::string& own, const RunFacts&, std::optional<int> attempt, Instant by);

const RankEnd* end_of(const GateEvent&, const RunFacts&);
const ProcessView* process_of(const GateEvent&, const RunFacts&);
// The first journal line about an effect of this fault's action with that `what`; none.
LineOf<events::FaultEffect> effect_line(const Action&, const RunFacts&, const std::string& what);

}  // namespace rankfault
