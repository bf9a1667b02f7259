// start: the launcher starts the victim wrongly: never, late, twice, or with a wrong rank, a wrong world size
// or other wrong variables in its environment.
//
// It has no gate: the local launcher reads the actions (launch/start_faults.cc).
#include <fmt/format.h>

#include <algorithm>

#include "faults/effect.h"
#include "faults/lowering.h"
#include "harness/scenario/placeholders.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

Status check_number(const FaultSpec& fault, const LowerContext& context, const std::string& how) {
  const bool wanted = how == "wrong_rank" || how == "wrong_size";
  const Value* as = fault.params.find("as");
  if (wanted != (as != nullptr))
    return usage_error(
        wanted ? "wrong_rank and wrong_size need \"as\": the rank or world size that the victim gets instead"
               : fmt::format("\"as\" belongs to wrong_rank and wrong_size, not to {}", how),
        as ? as->pos : fault.pos);
  if (!as) return Done{};
  const int64_t number = read_int(fault.params, "as", 0);
  if (how == "wrong_rank" && (number < 0 || number >= context.ranks))
    return usage_error(fmt::format("rank {} is not in this job", number), as->pos);
  if (how == "wrong_rank" && context.victims == std::vector<int>{static_cast<int>(number)})
    return usage_error("\"as\" must differ from the victim's own rank", as->pos);
  if (how == "wrong_size" && (number < 1 || number == context.ranks))
    return usage_error("\"as\" must be at least 1 and differ from the job's world size", as->pos);
  return Done{};
}

// Whether the variable is one of the harness: a fault cannot change it.
bool is_ours(const std::string& name) { return name.rfind("RANKFAULT_", 0) == 0 || name == "LD_PRELOAD"; }

Result<std::map<std::string, std::string>> read_env(const FaultSpec& fault, const std::string& how) {
  std::map<std::string, std::string> out;
  const Value* env = fault.params.find("env");
  if ((how == "wrong_env") != (env != nullptr))
    return usage_error(
        how == "wrong_env"
            ? "wrong_env needs \"env\": the variables that the victim gets instead, {NAME: value}"
            : fmt::format("\"env\" belongs to wrong_env, not to {}", how),
        env ? env->pos : fault.pos);
  if (!env) return out;
  for (const auto& [name, value] : *env->map()) {
    if (!is_scalar(value))
      return usage_error(fmt::format("\"{}\" in env must be text, not {}", name, kind_of(value)), value.pos);
    if (name.empty() || name.find('=') != std::string::npos)
      return usage_error(
          fmt::format("\"{}\" is not a variable name: it must not be empty or contain \"=\"", name),
          value.key);
    if (is_ours(name))
      return usage_error(name + " is reserved: rankfault needs it to run and record the job", value.key);
    Problems mistakes;
    check_placeholders(value.text, value.pos, mistakes);
    if (!mistakes.empty()) return mistakes.all().front();
    out[name] = value.text;
  }
  if (out.empty()) return usage_error("\"env\" must name at least one variable", env->pos);
  return out;
}

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (context.scenario.workload.launcher != LauncherKind::kLocal)
    return usage_error("start needs the local launcher: all others start the ranks themselves", fault.pos);
  if (fault.at.pos.line != 0)
    return usage_error("start has no trigger, because it acts before the rank runs: leave \"at\" out",
                       fault.at.pos);
  const std::string how = read_text(fault.params, "how");
  const auto by = read_duration(fault.params, "by");
  if ((how == "late") != by.has_value() || (by && *by <= Duration::zero()))
    return usage_error("\"how: late\" needs \"by\", a time above 0; the other forms take no \"by\"",
                       fault.pos);
  if ((how == "late" || how == "never") && context.victims.size() >= static_cast<size_t>(context.ranks))
    return usage_error("\"how: late\" and \"how: never\" must leave at least one rank to start normally",
                       fault.ranks.pos);
  if (Status ok = check_number(fault, context, how); !ok) return ok.error();
  const auto env = read_env(fault, how);
  if (!env) return env.error();
  return for_each_victim(fault, context, [&](Action& action) {
    action.outside = "start";
    action.path = how;
    action.env = *env;
    action.delay = by.value_or(Duration::zero());
    action.size = read_int(fault.params, "as", 0);
    action.times = 0;
  });
}

// The starts of the first attempt, the attempt of the fault. `victim` compares the rank of the launcher.
struct Started {
  std::vector<LineOf<events::Spawned>> victim, others;
  Instant first;
  Instant last_other;
};

Started started(const RunFacts& facts, int rank) {
  Started out;
  for (const auto& line : lines_of<events::Spawned>(facts.journal)) {
    if (line->attempt.value_or(0) != 0) continue;
    if (!is_known(out.first) || line.t < out.first) out.first = line.t;
    (line->rank == rank ? out.victim : out.others).push_back(line);
  }
  for (const auto& line : out.others) out.last_other = std::max(out.last_other, line.t);
  return out;
}

// Verifies wrong_rank and wrong_size: the record of the process holds its own rank and world size.
EffectReport as_told(const Action& action, const RunFacts& facts, const Started& s) {
  for (const auto& line : s.victim)
    for (const ProcessView& process : facts.timeline.processes) {
      if (process.id.pid != line->pid) continue;
      const bool rank = action.path == "wrong_rank";
      const int64_t claimed = rank ? process.rank : process.world_size;
      if (claimed == action.size)
        return verified(fmt::format("the process of rank {} ran as {} {}", action.rank,
                                    rank ? "rank" : "a rank of a world of size", claimed),
                        line.t, {line.n});
    }
  return cannot_tell(
      fmt::format("no record of the process of rank {} shows the wrong rank or world size", action.rank));
}

// Returns the variables of a started process as the kernel shows them; null: it has no record.
const Json* environment_of(const events::Spawned& spawned, const RunFacts& facts) {
  const auto line = first_line<events::Process>(facts.journal, [&](const events::Process& process) {
    return process.env && process.pid == spawned.pid;
  });
  return line ? &*line->env : nullptr;
}

// Verifies wrong_env: the victim's environment holds the variables, and another rank's environment differs.
EffectReport as_told_env(const Action& action, const RunFacts& facts, const Started& s) {
  const Json* const own = environment_of(*s.victim.back().event, facts);
  if (!own) return cannot_tell(fmt::format("the process of rank {} has no record", action.rank));
  bool seen = false, differs = false;
  for (const auto& line : s.others) {
    const Json* const other = environment_of(*line.event, facts);
    seen = seen || other;
    differs = differs || (other && *other != *own);
  }
  differs = differs && s.victim.back()->told_anyway.size() < action.env.size();
  if (!seen) return cannot_tell("no other rank left a record to compare the environment with");
  if (!differs)
    return not_bitten(fmt::format(
        "rank {} got only variables that it, or every other rank, gets without the fault", action.rank));
  std::string told;
  for (const auto& [name, value] : action.env)
    told += fmt::format("{}{}={}", told.empty() ? "" : " ", name, own->value(name, std::string()));
  return verified(fmt::format("the process of rank {} has {}", action.rank, told), s.victim.back().t,
                  {s.victim.back().n});
}

// The launcher starts the ranks one after another: the delay must be longer than these starts take.
EffectReport started_late(const Action& action, const Started& s, Instant at, uint64_t line) {
  const Duration late = at - s.first;
  const Duration ordinary = lasted(s.first, s.last_other);
  if (late < action.delay)
    return not_bitten(fmt::format("rank {} was only {} late", action.rank, to_text(late)), {line});
  if (action.delay < ordinary)
    return not_bitten(
        fmt::format("a delay of {} is shorter than the time in which the other ranks started, {}",
                    to_text(action.delay), to_text(ordinary)),
        {line});
  return verified(fmt::format("rank {} was started {} after the first", action.rank, to_text(late)), at,
                  {line});
}

EffectReport verify_one(const Action& action, const RunFacts& facts) {
  const Started s = started(facts, action.rank);
  if (!is_known(s.first)) return {Effect::kNotFired, "no rank was started", {}, {}};
  const size_t count = s.victim.size();
  if (action.path == "never")
    return count ? not_bitten(fmt::format("rank {} was started anyway", action.rank))
                 : verified(fmt::format("rank {} was never started", action.rank), s.first);
  if (count == 0)
    return {Effect::kNotFired, fmt::format("rank {} was not started at all", action.rank), {}, {}};
  const Instant at = s.victim.back().t;
  const uint64_t line = s.victim.back().n;
  if (action.path == "twice")
    return count > 1 ? verified(fmt::format("rank {} was started {} times", action.rank, count), at, {line})
                     : not_bitten(fmt::format("rank {} was started once", action.rank), {line});
  if (action.path == "wrong_env") return as_told_env(action, facts, s);
  if (action.path != "late") return as_told(action, facts, s);
  return started_late(action, s, at, line);
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  EffectReport out{Effect::kVerified, "", {}, {}};
  for (const Action& action : facts.plan.actions) {
    if (action.fault != fault.id) continue;
    EffectReport one = verify_one(action, facts);
    if (one.effect != Effect::kVerified) return one;
    out.how += (out.how.empty() ? "" : "; ") + one.how;
    out.journal.insert(out.journal.end(), one.journal.begin(), one.journal.end());
    out.at = is_known(out.at) ? std::min(out.at, one.at) : one.at;
  }
  if (out.how.empty()) return {Effect::kNotFired, "the plan has no action for this fault", {}, {}};
  return out;
}

const Registration<FaultKind> kRegistration{{
    .name = "start",
    .summary = "The launcher starts the victim late, never or twice, or gives it a wrong rank, world size or "
               "other variables.",
    .stands_for = "a node that boots late or not at all, a rank started by hand a second time, a stale host "
                  "file or variable: another device, another library on the path",
    .not_the_same =
        "a rank that starts and then hangs: its process is absent, or runs with the values that it was given",
    .verified_by = "the launcher's own starts in the journal; the rank and world size in the process's own "
                   "record; its environment as the kernel shows it, compared with the other ranks'",
    .example = "start@rank=2,how=late,by=500ms",
    .params = {{"how",
                ParamType::kText,
                true,
                "How the victim starts.",
                {"never", "late", "twice", "wrong_rank", "wrong_size", "wrong_env"}},
               {"by", ParamType::kDuration, false, "How late."},
               {"as", ParamType::kInt, false, "The rank, or the world size, that the victim gets."},
               {"env", ParamType::kMap, false,
                "Of wrong_env: the variables that the victim gets, {NAME: value}."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
