// cpu_squeeze: busy processes of the harness share the cores that the victim may use, for a time.
#include <fmt/format.h>

#include "faults/effect.h"
#include "faults/lowering.h"

namespace rankfault {
namespace {

constexpr int64_t kMost = 64;
constexpr int kLargePart = 4;  // a quarter of the time

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  if (fault.times.count != 1)
    return usage_error(
        "cpu_squeeze fires once, because a second firing would double the load: leave \"times\" out",
        fault.pos);
  if (context.victims.size() != 1)
    return usage_error("cpu_squeeze must name one rank: every rank on its cores is squeezed with it",
                       fault.ranks.pos);
  const int64_t load = read_int(fault.params, "load", 4);
  if (load < 1 || load > kMost)
    return usage_error(fmt::format("\"load\" must be 1 to {} busy processes on each core", kMost),
                       fault.params.find("load")->pos);
  const std::optional<Duration> lasts = read_duration(fault.params, "for");
  RF_ASSERT(lasts.has_value(), "check_params asks for it");
  if (*lasts <= Duration::zero())
    return usage_error("\"for\" must be above 0", fault.params.find("for")->pos);
  std::vector<Action> out = for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_OUTSIDE;
    action.outside = "load";
    action.size = load;
  });
  Action end = out.front();
  end.verb = RF_VERB_NONE;
  end.outside = "unload";
  end.delay = *lasts;
  end.after = 0;
  out.push_back(std::move(end));
  return out;
}

// Busy processes alone are not an effect: the victim must have waited for a core.
EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  const auto line = effect_line(action, facts, "waited_for_a_core");
  if (!line)
    return cannot_tell(
        fmt::format("rankfault did not measure how long rank {} waited for a core", gate.rank));
  if (line->error)
    return not_bitten(fmt::format("the busy processes were not started: {}", *line->error), {line.n});
  const Duration waited = line->waited_ns.value_or(Duration{}), took = line->took_ns.value_or(Duration{});
  const std::string how =
      fmt::format("a thread of rank {} waited {} of {} ms for a core, with {} busy processes on {} cores",
                  gate.rank, waited / 1ms, took / 1ms, line->busy.value_or(0), line->cores.value_or(0));
  if (took == Duration::zero() || waited < took / kLargePart) return not_bitten(how, {line.n});
  return verified(how, line->time.value_or(acted_at(gate)), {line.n});
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "cpu_squeeze",
    .summary = "Busy processes share the cores that the victim may use, for a time from the trigger on.",
    .stands_for = "a neighbour's job on the same host, a forgotten process, a loader with too many threads",
    .not_the_same = "a container's CPU quota: the cores are shared, also with all other ranks on them",
    .verified_by = "the kernel's account of the victim's threads: one was ready and waited for a core at "
                   "least a quarter of the time",
    .example = "cpu_squeeze@rank=1,step=3,op=all_reduce,load=4,for=3s",
    .params = {{"for", ParamType::kDuration, true, "How long."},
               {"load", ParamType::kInt, false,
                "How many busy processes on each of those cores, 1 to 64; 4 when not given. More than 256 in "
                "all are refused."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
