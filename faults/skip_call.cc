// skip_call: the victim does not make one call. It gets the library's success and untouched buffers.
#include <fmt/format.h>

#include <algorithm>

#include "faults/effect.h"
#include "faults/lowering.h"
#include "faults/members.h"
#include "faults/upper_call.h"
#include "harness/observe/call_history.h"
#include "harness/scenario/op_names.h"

namespace rankfault {
namespace {

// Whether the workload says that it runs over NCCL.
bool is_over_nccl(const Workload& workload) {
  return workload.cuda_double ||
         std::any_of(workload.needs.begin(), workload.needs.end(),
                     [](const auto& need) { return need.rfind("nccl", 0) == 0 || need == "gpu"; });
}

// Refuses calls that the decoder of PyTorch's groups cannot skip without a change of more than the call.
Status check_c10d(const Trigger& at, const LowerContext& context) {
  const rf_op op = op_from_word(at.op).value_or(RF_OP_NONE);
  const bool scatters = op == RF_OP_REDUCE_SCATTER || op == RF_OP_REDUCE_SCATTER_BLOCK;
  const Workload& workload = context.scenario.workload;
  if (workload.launcher != LauncherKind::kTorchrun || !scatters || is_over_nccl(workload)) return Done{};
  return usage_error(
      fmt::format("{} of PyTorch on Gloo cannot be skipped: its wait copies the input to the output "
                  "(for a job on NCCL write \"needs: [nccl]\")",
                  at.op),
      at.pos);
}

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_library_call(fault, "skip_call"); !ok) return ok.error();
  const Trigger& at = fault.at;
  if (Status ok = check_c10d(at, context); !ok) return ok.error();
  if (const auto op = op_from_word(at.op))
    if (const std::string why = why_not_skipped(*op); !why.empty())
      return usage_error(fmt::format("{} cannot be skipped: {}", at.op, why), at.pos);
  if (at.edge == Edge::kAfter)
    return usage_error("a call cannot be skipped after it was made: leave \"edge\" out", at.pos);
  return for_each_victim(fault, context, [](Action& action) { action.verb = RF_VERB_SKIP; });
}

bool needs_only_the_root(uint16_t op) {
  return op == RF_OP_BROADCAST || op == RF_OP_SCATTER || op == RF_OP_SCATTERV;
}

// The victim made no later call at that place: a peer must have needed it there.
EffectReport verify_no_later_call(const GateEvent& gate, const ProcessView& victim, const RunFacts& facts) {
  const CommView* comm = comm_with_id(victim, gate.comm_id);
  bool entered = false, left_well = true;
  for (const ProcessView* peer : peers_on(facts, victim, gate.comm_id)) {
    const CallHistory history(*peer);
    const std::optional<FilledPlace> place = history.at_place(gate.comm_id, gate.seq);
    if (!place) continue;
    entered = true;
    const rf_record& made = *place->call->arguments();
    left_well &= place->succeeded && needs_only_the_root(made.op) && made.peer != comm->rank;
  }
  if (!entered)
    return not_bitten(fmt::format("no peer entered call {} that rank {} skipped", gate.seq, gate.rank),
                      gate.lines);
  if (left_well)
    return not_bitten(fmt::format("no rank needed rank {}'s part of that {}", gate.rank, gate.op),
                      gate.lines);
  return verified(fmt::format("rank {} never entered call {}, but its peers did", gate.rank, gate.seq),
                  acted_at(gate));
}

// The victim's own count may be 0 although others' are not: in the v-forms, and on ranks other than the root.
bool nobody_brings_elements(const GateEvent& gate, const ProcessView& victim, const RunFacts& facts) {
  if (gate.count != 0) return false;
  for (const ProcessView* peer : peers_on(facts, victim, gate.comm_id)) {
    const CallHistory history(*peer);
    const std::optional<FilledPlace> place = history.at_place(gate.comm_id, gate.seq);
    if (place && place->call->arguments()->count != 0) return false;
  }
  return true;
}

EffectReport verify_collective(const GateEvent& gate, const ProcessView& victim, const RunFacts& facts) {
  const CommView* comm = gate.group && gate.comm_id == 0 ? nullptr : comm_with_id(victim, gate.comm_id);
  if (!comm) return cannot_tell(fmt::format("rank {} has no record of that communicator", gate.rank));
  if (comm->size == 1) return not_bitten("the communicator has one rank: no peer can miss the call");
  if (gate.op != "barrier" && nobody_brings_elements(gate, victim, facts))
    return not_bitten("the call has no elements: no rank needs another one in it");
  const CallHistory own(victim);
  const std::optional<FilledPlace> instead = own.at_place(gate.comm_id, gate.seq);
  if (!instead) return verify_no_later_call(gate, victim, facts);
  for (const ProcessView* peer : peers_on(facts, victim, gate.comm_id)) {
    if (CallHistory(*peer).at_place(gate.comm_id, gate.seq))
      return verified(
          fmt::format(
              "rank {} entered its next call ({}) where its peers entered the one it skipped (call {})",
              gate.rank, op_text(instead->call->op()), gate.seq),
          acted_at(gate));
  }
  return not_bitten(fmt::format("no peer entered call {} that rank {} skipped", gate.seq, gate.rank));
}

bool is_message_on(const RecordedCall& call, const CommView& comm) {
  return call.comm() == comm.index && is_p2p_op(static_cast<rf_op>(call.op()));
}

// Whether the call is a message between the victim and this peer, on the communicator of the gate.
bool meets_victim(const RecordedCall* call, const CommView& peers_comm, const CommView& victims_comm) {
  return call && call->enter && is_message_on(*call, peers_comm) &&
         (call->enter->peer == victims_comm.rank || call->enter->peer == RF_PEER_ANY);
}

// The call that the lane is in, and what it waits for. A wait names more than two requests in records of its
// own.
std::vector<uint64_t> awaited_by(const ProcessView& peer, const LaneView& lane) {
  std::vector<uint64_t> all = {RF_ORIGIN(lane.index, lane.state.call), lane.state.pending[0],
                               lane.state.pending[1]};
  for (const Event& event : peer.history)
    if (event.lane == lane.index && event.record.call == lane.state.call &&
        event.record.phase == RF_PHASE_DETAIL)
      all.push_back(event.record.where);
  return all;
}

// Whether the peer is inside a message call with the victim, or in a wait for one.
bool waits_for_victim(const CallHistory& peer, const LaneView& lane, const CommView& peers_comm,
                      const CommView& victims_comm) {
  if (lane.state.where != RF_INSIDE) return false;
  const std::vector<uint64_t> awaited = awaited_by(peer.process(), lane);
  return std::any_of(awaited.begin(), awaited.end(), [&](uint64_t origin) {
    return meets_victim(peer.find(key_of_origin(origin)), peers_comm, victims_comm);
  });
}

// A message has no place in a common order, so the records must show a peer that missed it.
std::optional<EffectReport> missed_message(const GateEvent& gate, const ProcessView& victim,
                                           const CommView& own, const RunFacts& facts) {
  for (const ProcessView& peer : facts.timeline.processes) {
    const CommView* theirs = comm_with_id(peer, own.id);
    if (&peer == &victim || peer.attempt != victim.attempt || !theirs) continue;
    const CallHistory history(peer);
    for (const LaneView& lane : peer.lanes)
      if (waits_for_victim(history, lane, *theirs, own))
        return verified(fmt::format("rank {} skipped {}; rank {} still waits", gate.rank, gate.op, peer.rank),
                        acted_at(gate));
    for (const RecordedCall& call : history.calls())
      if (call.leave && call.leave->phase == RF_PHASE_ERROR && call.left() > acted_at(gate) &&
          is_message_on(call, *theirs))
        return verified(
            fmt::format("rank {} skipped {}; rank {}'s call failed", gate.rank, gate.op, peer.rank),
            acted_at(gate));
  }
  return std::nullopt;
}

EffectReport verify_message(const GateEvent& gate, const ProcessView& victim, const RunFacts& facts) {
  const std::vector<const CommView*> all = communicators_of(gate, victim);
  if (all.empty()) return cannot_tell(fmt::format("rank {} has no record of that communicator", gate.rank));
  for (const CommView* own : all)
    if (const auto report = missed_message(gate, victim, *own, facts)) return *report;
  return not_bitten(fmt::format("no rank missed the {} that rank {} skipped", gate.op, gate.rank));
}

// Such a collective of an upper call may be made of messages.
bool may_be_messages(rf_op op) {
  return op == RF_OP_ALL_TO_ALL || op == RF_OP_GATHER || op == RF_OP_SCATTER || op == RF_OP_ALL_GATHER;
}

EffectReport verify_one(const Action&, const GateEvent& asked, const RunFacts& facts) {
  if (asked.effect != "done")
    return cannot_tell(fmt::format("rank {} did not report that it skipped the call", asked.rank));
  const ProcessView* victim = process_of(asked, facts);
  if (!victim) return cannot_tell(fmt::format("rank {} has no record", asked.rank));
  const GateEvent gate = with_communicator(asked, *victim);
  const rf_op op = op_from_word(gate.op).value_or(RF_OP_NONE);
  if (is_p2p_op(op)) return verify_message(gate, *victim, facts);
  const EffectReport by_place = verify_collective(gate, *victim, facts);
  if (!gate.group || by_place.effect == Effect::kVerified || !may_be_messages(op)) return by_place;
  const EffectReport by_message = verify_message(gate, *victim, facts);
  return by_message.effect == Effect::kVerified ? by_message : by_place;
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "skip_call",
    .summary = "The victim skips one library call and continues as if the call had been made.",
    .stands_for = "a conditional collective, an exception swallowed on one rank, a loop that runs once less "
                  "on one rank",
    .not_the_same = "a call that was made and then lost: the library never sees the call",
    .verified_by = "the victim's next call has the place of the call that it skipped, or the peers entered a "
                   "call that the victim never entered",
    .example = "skip_call@rank=3,op=all_reduce,nth=40",
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
