#include "faults/effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/base/rank_words.h"
#include "harness/plan/external_act.h"

namespace rankfault {
namespace {

int badness(Effect effect) {
  switch (effect) {
    case Effect::kVerified:
      return 0;
    case Effect::kVoid:
      return 2;
    case Effect::kUnknown:
      return 1;
    case Effect::kNotFired:
      return 3;
  }
  return 3;
}

void merge(EffectReport& all, const EffectReport& one) {
  if (badness(one.effect) > badness(all.effect)) {
    all.effect = one.effect;
    all.how = one.how;
  } else if (badness(one.effect) == badness(all.effect) && !one.how.empty()) {
    all.how += (all.how.empty() ? "" : "; ") + one.how;
  }
  if (is_known(one.at) && (!is_known(all.at) || one.at < all.at)) all.at = one.at;
  all.journal.insert(all.journal.end(), one.journal.begin(), one.journal.end());
}

// The scenario may name more ranks than the command starts.
EffectReport not_fired(const Action& action, const RunFacts& facts) {
  std::vector<int> ranks;
  for (const ProcessView& process : facts.timeline.processes)
    if (process.rank >= 0) ranks.push_back(process.rank);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (!ranks.empty() && !std::binary_search(ranks.begin(), ranks.end(), action.rank))
    return {Effect::kNotFired,
            fmt::format("no process of the job said that it is rank {}; the job has {}", action.rank,
                        ranks_text(ranks)),
            {},
            {}};
  return {Effect::kNotFired, fmt::format("rank {} never reached the fault's trigger", action.rank), {}, {}};
}

// Whether the records of a process cover this moment without a gap. A long run keeps the records around a
// fault, but not for ever, and not all records of a fast rank.
bool recorded_over(const ProcessView& process, Instant moment) {
  constexpr uint64_t kTorn = 2;  // a torn record is not a gap
  if (process.history_lost == 0) return true;
  std::map<uint32_t, uint64_t> before;  // by lane: what follows the newest record before the moment
  std::set<uint32_t> over;
  for (const Event& e : process.history) {
    if (instant_of(e.record.time_ns) < moment) {
      before[e.lane] = e.index + 1;
    } else if (over.insert(e.lane).second) {
      const auto last = before.find(e.lane);
      if (e.index > (last == before.end() ? 0 : last->second) + kTorn) return false;
    }
  }
  return std::all_of(process.lanes.begin(), process.lanes.end(), [&](const LaneView& lane) {
    const auto last = before.find(lane.index);
    return over.count(lane.index) || lane.head <= (last == before.end() ? 0 : last->second) + kTorn;
  });
}

// The absence of an effect in the records is evidence only where the records cover the fault.
EffectReport doubt(EffectReport report, const GateEvent& gate, const RunFacts& facts) {
  if (report.effect != Effect::kVoid) return report;
  for (const ProcessView& process : facts.timeline.processes)
    if (process.attempt == gate.attempt && !recorded_over(process, acted_at(gate)))
      return cannot_tell(
          fmt::format("the record of rank {} no longer holds its calls at the fault", process.rank),
          report.journal);
  return report;
}

EffectReport verify_firing(const Action& action, const GateEvent& gate, const RunFacts& facts,
                           const VerifyOne& verify) {
  EffectReport one;
  if (gate.effect == "unable" || gate.effect == "refused")
    one = not_bitten(fmt::format("the agent in rank {} could not inject the fault at this call{}", gate.rank,
                                 gate.why.empty() ? "" : ": " + gate.why));
  else if (gate.effect == "abandoned")
    one = cannot_tell(fmt::format("rank {} waited too long at the gate and continued", gate.rank));
  else
    one = doubt(verify(action, gate, facts), gate, facts);
  one.journal.insert(one.journal.end(), gate.lines.begin(), gate.lines.end());
  return one;
}

}  // namespace

EffectReport verify_each(const FaultSpec& fault, const RunFacts& facts, const VerifyOne& verify) {
  EffectReport all{Effect::kVerified, "", {}, {}};
  bool any = false;
  for (const Action& action : facts.plan.actions) {
    const ActTime when = time_of(action);
    if (action.fault != fault.id || when == ActTime::kLater || when == ActTime::kNever) continue;
    any = true;
    bool fired = false;
    for (const GateEvent& gate : facts.gates) {
      if (gate.action != action.id || gate.answer == "no_go") continue;  // asked after its last firing
      fired = true;
      merge(all, verify_firing(action, gate, facts, verify));
    }
    if (!fired) merge(all, not_fired(action, facts));
  }
  if (!any) return {Effect::kNotFired, "the plan has no action for this fault", {}, {}};
  std::sort(all.journal.begin(), all.journal.end());
  all.journal.erase(std::unique(all.journal.begin(), all.journal.end()), all.journal.end());
  if (all.effect != Effect::kVerified) all.at = {};
  return all;
}

EffectReport verified(std::string how, Instant at, std::vector<uint64_t> lines) {
  return {Effect::kVerified, std::move(how), std::move(lines), at};
}
EffectReport not_bitten(std::string how, std::vector<uint64_t> lines) {
  return {Effect::kVoid, std::move(how), std::move(lines), {}};
}
EffectReport cannot_tell(std::string how, std::vector<uint64_t> lines) {
  return {Effect::kUnknown, std::move(how), std::move(lines), {}};
}

Instant acted_at(const GateEvent& gate) {
  if (is_known(gate.answered)) return gate.answered;
  return is_known(gate.done) ? gate.done : gate.asked;
}

const Action* another_fault(const std::string& own, const RunFacts& facts, std::optional<int> attempt,
                            Instant by) {
  const std::vector<Action>& actions = facts.plan.actions;
  for (const Action& action : actions)
    if (time_of(action) == ActTime::kBeforeTheJob && action.fault != own) return &action;
  for (const GateEvent& gate : facts.gates) {
    if (gate.action >= actions.size() || actions[gate.action].fault == own) continue;
    const bool fired = gate.answer != "no_go" && gate.effect != "unable" && gate.effect != "refused";
    if (fired && gate.asked <= by && (!attempt || *attempt == gate.attempt)) return &actions[gate.action];
  }
  return nullptr;
}

const RankEnd* end_of(const GateEvent& gate, const RunFacts& facts) {
  for (const RankEnd& end : facts.ends)
    if (end.process.pid != 0 && end.process.pid == gate.process.pid &&
        end.process.start == gate.process.start)
      return &end;
  if (gate.process.pid != 0) return nullptr;
  for (const RankEnd& end : facts.ends)
    if (end.rank == gate.rank && end.attempt == gate.attempt) return &end;
  return nullptr;
}

const ProcessView* process_of(const GateEvent& gate, const RunFacts& facts) {
  for (const ProcessView& process : facts.timeline.processes)
    if (process.id.pid != 0 ? process.id.pid == gate.process.pid && process.id.start == gate.process.start
                            : process.rank == gate.rank && process.attempt == gate.attempt)
      return &process;
  return nullptr;
}

LineOf<events::FaultEffect> effect_line(const Action& action, const RunFacts& facts,
                                        const std::string& what) {
  return first_line<events::FaultEffect>(facts.journal, [&](const events::FaultEffect& line) {
    return line.fault == action.fault && line.action == action.id && line.what == what;
  });
}

}  // namespace rankfault
