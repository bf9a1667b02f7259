// slow_rank: the victim enters every matching call late, by the same time.
#include <fmt/format.h>

#include "faults/effect.h"
#include "faults/lowering.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (!fault.at.file_op.empty())
    return usage_error("slow_rank acts on library calls and marks, not on file operations", fault.at.pos);
  const std::optional<Duration> by = read_duration(fault.params, "by");
  RF_ASSERT(by.has_value(), "check_params asks for it");
  if (*by <= Duration::zero()) return usage_error("\"by\" must be above 0", fault.params.find("by")->pos);
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_DELAY;
    action.delay = *by;
    action.ask = false;  // does not ask each time: the gate itself would be the delay
    if (!fault.times.given) action.times = UINT64_MAX;
  });
}

// Firings that were granted beforehand have no gate lines. They leave a counter in the journal, and the
// shortest time that one of them held the victim. That time less the delay is the cost of the gate itself.
EffectReport verify_action(const Action& action, const RunFacts& facts) {
  EffectReport out{Effect::kVerified, "", {}, {}};
  uint64_t firings = 0;
  Duration held{};
  for (const auto& line : lines_of<events::FaultDone>(facts.journal)) {
    if (line->action != action.id) continue;
    firings = std::max(firings, line->firings.value_or(1));
    held = line->held_least_ns.value_or(held);
    out.journal.push_back(line.n);
    const Instant at = line->time.value_or(Instant{});
    if (is_known(at) && (!is_known(out.at) || at < out.at)) out.at = at;
  }
  if (firings == 0)
    return {Effect::kNotFired, fmt::format("rank {} made no matching call", action.rank), {}, {}};
  if (held == Duration::zero())
    return cannot_tell(fmt::format("the journal does not show how long rank {} was held", action.rank),
                       out.journal);
  if (held < action.delay)
    return not_bitten(fmt::format("rank {} was held for only {}", action.rank, to_text(held)), out.journal);
  if (held - action.delay > action.delay)
    return not_bitten(
        fmt::format("a delay of {} is shorter than the time that the gate itself costs rank {}, {}",
                    to_text(action.delay), action.rank, to_text(held - action.delay)),
        out.journal);
  out.how = fmt::format("rank {} was late {} times, by {} or more", action.rank, firings, to_text(held));
  return out;
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  EffectReport out{Effect::kVerified, "", {}, {}};
  for (const Action& action : facts.plan.actions) {
    if (action.fault != fault.id) continue;
    EffectReport one = verify_action(action, facts);
    if (one.effect != Effect::kVerified) return one;
    out.how += (out.how.empty() ? "" : "; ") + one.how;
    out.journal.insert(out.journal.end(), one.journal.begin(), one.journal.end());
    if (is_known(one.at) && (!is_known(out.at) || one.at < out.at)) out.at = one.at;
  }
  if (out.how.empty()) return {Effect::kNotFired, "the plan has no action for this fault", {}, {}};
  return out;
}

const Registration<FaultKind> kRegistration{{
    .name = "slow_rank",
    .summary = "The victim is late at every matching call (every collective when no trigger is given).",
    .stands_for = "a straggler: a throttled or older device, a rank with more data, a rank that also logs",
    .not_the_same =
        "a rank that computes slower: the time passes before its calls, and its processor is idle meanwhile",
    .verified_by =
        "the agent's count of delayed calls, and the shortest time that one of them was held; void where the "
        "delay is shorter than the rest of that time, which is the cost of the gate itself",
    .example = "slow_rank@rank=2,by=20ms",
    .params = {{"by", ParamType::kDuration, true, "How late, at each call."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
