// slow_rank: the victim comes late to every call that matches, by the same time.
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
  if (*by <= Duration::zero())
    return usage_error("slow by nothing is no fault", fault.params.find("by")->pos);
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_DELAY;
    action.delay = *by;
    action.ask = false;  // no question each time: the gate itself would be the delay
    if (!fault.times_given) action.times = UINT64_MAX;
  });
}

// Firings granted beforehand leave a counter in the journal, not a gate each.
EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  EffectReport out{Effect::kVerified, "", {}, 0};
  for (const Action& action : facts.plan.actions) {
    if (action.fault != fault.id) continue;
    uint64_t firings = 0;
    for (const Json& line : facts.journal) {
      if (line.value("ev", "") != "fault_done" || line.value("action", RF_MAX_ARMED) != action.id) continue;
      firings = std::max(firings, line.value("firings", uint64_t{1}));
      out.journal.push_back(line_number(line));
      const TimeNs at = line.value("time", TimeNs{0});
      if (at && (!out.at || at < out.at)) out.at = at;
    }
    if (firings == 0)
      return {Effect::kNotFired, fmt::format("rank {} made no such call", action.rank), {}, 0};
    out.how += fmt::format("{}rank {} was {} late {} times", out.how.empty() ? "" : "; ", action.rank,
                           to_text(action.delay), firings);
  }
  if (out.how.empty()) return {Effect::kNotFired, "the plan has no action for it", {}, 0};
  return out;
}

const Registration<FaultKind> kRegistration{{
    "slow_rank",
    "The victim is late at every matching call (every collective when no trigger is given).",
    "a straggler: a throttled or older device, a rank with more data, a rank that also logs",
    "a rank that computes slower: the time passes before its calls, and its processor is idle meanwhile",
    "the agent's count of delayed calls",
    "slow_rank@rank=2,by=20ms",
    false,
    {{"by", ParamType::kDuration, true, "How late, at each call."}},
    lower,
    verify,
}};

}  // namespace
}  // namespace rankfault
