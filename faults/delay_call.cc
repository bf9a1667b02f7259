// delay_call: the victim comes late to one call, or leaves it late.
#include <fmt/format.h>

#include <algorithm>

#include "faults/effect.h"
#include "faults/lowering.h"
#include "faults/members.h"
#include "harness/observe/call_history.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  const std::optional<Duration> by = read_duration(fault.params, "by");
  RF_ASSERT(by.has_value(), "check_params asks for it");
  if (*by <= Duration::zero()) return usage_error("\"by\" must be above 0", fault.params.find("by")->pos);
  if (!fault.at.file_op.empty())
    return usage_error(
        "delay_call cannot delay a file operation inside a library call: the library may hold locks",
        fault.at.pos);
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_DELAY;
    action.delay = *by;
  });
}

// Returns the time that the gate itself costs: the shortest time from question to answer of this action.
Duration cost_of_the_gate(const Action& action, const RunFacts& facts) {
  Duration least = Duration::max();
  for (const GateEvent& gate : facts.gates)
    if (gate.action == action.id && gate.answered > gate.asked)
      least = std::min(least, gate.answered - gate.asked);
  return least == Duration::max() ? Duration::zero() : least;
}

// Whether a peer waited on the victim's communicator for at least a tenth of the delay, and got no result.
bool a_peer_waited(const Action& action, const GateEvent& gate, const ProcessView& victim, Instant until,
                   const RunFacts& facts) {
  for (const ProcessView* peer : peers_on(facts, victim, gate.comm_id)) {
    const CommView* comm = comm_with_id(*peer, gate.comm_id);
    const CallHistory history(*peer);
    for (const RecordedCall& call : history.calls()) {
      const bool failed = call.leave && call.leave->phase == RF_PHASE_ERROR;
      if (!call.enter || call.comm() != comm->index || (call.leave && !failed)) continue;
      const Instant left = failed ? std::min(call.left(), until) : until;
      if (lasted(std::max(call.entered(), gate.answered), left) * 10 >= action.delay) return true;
    }
  }
  return false;
}

// A victim that ends inside its delay reports nothing: a launcher ends it when its peers give up. It was late
// until its end, if it never entered the call and a peer waited for it.
EffectReport verify_unreported(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  const EffectReport unknown = cannot_tell(fmt::format("rank {} did not report that it waited", gate.rank));
  const RankEnd* end = end_of(gate, facts);
  const ProcessView* victim = process_of(gate, facts);
  if (!gate.effect.empty() || gate.answer != "go" || !is_known(gate.answered) || !end || !victim)
    return unknown;
  const CallHistory own(*victim);
  const bool entered = std::any_of(own.calls().begin(), own.calls().end(), [&](const RecordedCall& call) {
    return call.enter && call.entered() >= gate.answered;
  });
  const Duration late = lasted(gate.answered, end->time);
  if (entered || late > action.delay || late <= cost_of_the_gate(action, facts)) return unknown;
  if (!a_peer_waited(action, gate, *victim, end->time, facts)) return unknown;
  return verified(fmt::format("rank {} was {} late when it ended", gate.rank, to_text(late)), gate.answered);
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  if (gate.effect != "done") return verify_unreported(action, gate, facts);
  const Instant from = acted_at(gate);
  const Duration late = lasted(from, gate.done);
  if (late < action.delay * 9 / 10)
    return not_bitten(fmt::format("rank {} was held for only {}", gate.rank, to_text(late)));
  if (const Duration cost = cost_of_the_gate(action, facts); action.delay < cost)
    return not_bitten(
        fmt::format("a delay of {} is shorter than the time that the gate itself costs rank {}, {}",
                    to_text(action.delay), gate.rank, to_text(cost)));
  return verified(fmt::format("rank {} was {} late", gate.rank, to_text(late)), from);
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "delay_call",
    .summary = "The victim waits before (or after) one call.",
    .stands_for =
        "a checkpoint written by one rank, a slow loader, a garbage collection, a page-in: one hiccup",
    .not_the_same = "a busy machine: the thread sleeps, and other threads and processes continue to run",
    .verified_by = "the time between the gate's answer and the agent's report is at least nine tenths of the "
                   "delay; void where the delay is shorter than the time that the answer took. A victim that "
                   "ends inside "
                   "the delay was late until then, if a peer waited for it and got no result",
    .example = "delay_call@rank=0,op=barrier,nth=2,by=500ms",
    .params = {{"by", ParamType::kDuration, true, "How long."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
