// start: the launcher starts the victim otherwise than it should: never, late, twice, or with the rank or the
// world size of another job in its environment.
//
// Nothing waits for it at a gate: the local launcher reads the actions (launch/start_otherwise.cc).
#include <fmt/format.h>

#include <algorithm>

#include "faults/effect.h"
#include "faults/lowering.h"

namespace rankfault {
namespace {

Status check_number(const FaultSpec& fault, const LowerContext& context, const std::string& how) {
  const bool wanted = how == "wrong_rank" || how == "wrong_size";
  const Value* as = fault.params.find("as");
  if (wanted != (as != nullptr))
    return usage_error(wanted ? "\"as\" says which rank or world size it is told instead"
                              : fmt::format("\"as\" is of wrong_rank and wrong_size, not of {}", how),
                       as ? as->pos : fault.pos);
  if (!as) return Done{};
  const int64_t number = read_int(fault.params, "as", 0);
  if (how == "wrong_rank" && (number < 0 || number >= context.ranks))
    return usage_error(fmt::format("rank {} is not in this job", number), as->pos);
  if (how == "wrong_rank" && context.victims == std::vector<int>{static_cast<int>(number)})
    return usage_error("that is its own rank", as->pos);
  if (how == "wrong_size" && (number < 1 || number == context.ranks))
    return usage_error("that is no other world size", as->pos);
  return Done{};
}

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (context.scenario.workload.launcher != LauncherKind::kLocal)
    return usage_error("start is of the local launcher: mpirun and torchrun start their ranks themselves",
                       fault.pos);
  if (fault.at.pos.line != 0)
    return usage_error("start has no trigger: a rank is started before it can do anything", fault.at.pos);
  const std::string how = read_text(fault.params, "how");
  const auto by = read_duration(fault.params, "by");
  if ((how == "late") != by.has_value() || (by && *by <= Duration::zero()))
    return usage_error("\"by\" says how late, and belongs to \"how: late\"", fault.pos);
  if ((how == "late" || how == "never") && context.victims.size() >= static_cast<size_t>(context.ranks))
    return usage_error("somebody must be started as he should, else there is no job", fault.ranks.pos);
  if (Status ok = check_number(fault, context, how); !ok) return ok.error();
  return for_each_victim(fault, context, [&](Action& action) {
    action.outside = OutsideVerb::kStart;
    action.path = how;
    action.delay = by.value_or(Duration::zero());
    action.size = read_int(fault.params, "as", 0);
    action.times = 0;
  });
}

// What of the job was started in the attempt of the fault, the first; by the launcher's own rank.
struct Started {
  std::vector<const Json*> victim;
  TimeNs first = 0;
};

Started started(const RunFacts& facts, int rank) {
  Started out;
  for (const Json& line : facts.journal) {
    if (line.value("ev", "") != "spawned" || line.value("attempt", 0) != 0) continue;
    const TimeNs t = line.value("t", TimeNs{0});
    if (out.first == 0 || t < out.first) out.first = t;
    if (line.value("rank", -1) == rank) out.victim.push_back(&line);
  }
  return out;
}

// Its own record says what it took itself for.
EffectReport as_told(const Action& action, const RunFacts& facts, const Started& s) {
  for (const Json* line : s.victim)
    for (const ProcessView& process : facts.timeline.processes) {
      if (process.id.pid != line->value("pid", 0)) continue;
      const bool rank = action.path == "wrong_rank";
      const int64_t claimed = rank ? process.rank : process.world_size;
      if (claimed == action.size)
        return verified(fmt::format("the process of rank {} took itself for {} {}", action.rank,
                                    rank ? "rank" : "one of a world of", claimed),
                        line->value("t", TimeNs{0}), {line_number(*line)});
    }
  return cannot_tell(
      fmt::format("the process of rank {} left no record of what it took itself for", action.rank));
}

EffectReport verify_one(const Action& action, const RunFacts& facts) {
  const Started s = started(facts, action.rank);
  if (s.first == 0) return {Effect::kNotFired, "nothing was started", {}, 0};
  const size_t count = s.victim.size();
  if (action.path == "never")
    return count ? not_bitten(fmt::format("rank {} was started all the same", action.rank))
                 : verified(fmt::format("rank {} was never started", action.rank), s.first);
  if (count == 0)
    return {Effect::kNotFired, fmt::format("rank {} was not started at all", action.rank), {}, 0};
  const TimeNs at = s.victim.back()->value("t", TimeNs{0});
  const uint64_t line = line_number(*s.victim.back());
  if (action.path == "twice")
    return count > 1 ? verified(fmt::format("rank {} was started {} times", action.rank, count), at, {line})
                     : not_bitten(fmt::format("rank {} was started once", action.rank), {line});
  if (action.path != "late") return as_told(action, facts, s);
  const Duration late(static_cast<int64_t>(at - s.first));
  return late >= action.delay
             ? verified(fmt::format("rank {} was started {} after the first", action.rank, to_text(late)), at,
                        {line})
             : not_bitten(fmt::format("rank {} was only {} late", action.rank, to_text(late)), {line});
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  EffectReport out{Effect::kVerified, "", {}, 0};
  for (const Action& action : facts.plan.actions) {
    if (action.fault != fault.id) continue;
    EffectReport one = verify_one(action, facts);
    if (one.effect != Effect::kVerified) return one;
    out.how += (out.how.empty() ? "" : "; ") + one.how;
    out.journal.insert(out.journal.end(), one.journal.begin(), one.journal.end());
    out.at = out.at == 0 ? one.at : std::min(out.at, one.at);
  }
  if (out.how.empty()) return {Effect::kNotFired, "the plan has no action for it", {}, 0};
  return out;
}

const Registration<FaultKind> kRegistration{{
    "start",
    "The launcher starts the victim late, never, twice, or tells it a wrong rank or world size.",
    "a node that boots late or not at all, a rank started by hand a second time, a stale host file or "
    "variable",
    "a rank that is started and then stuck: its process is not there, or is there as it was told to be",
    "the launcher's own starts in the journal; what the process took itself for, in its own record",
    "start@rank=2,how=late,by=500ms",
    false,
    {{"how", ParamType::kText, true, "In which way.", {"never", "late", "twice", "wrong_rank", "wrong_size"}},
     {"by", ParamType::kDuration, false, "How late."},
     {"as", ParamType::kInt, false, "The rank, or the world size, that it is told."}},
    lower,
    verify,
}};

}  // namespace
}  // namespace rankfault
