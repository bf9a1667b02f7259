// change_argument: the victim makes the call with one argument that differs from its peers'.
#include <fmt/format.h>

#include "faults/argument_names.h"
#include "faults/effect.h"
#include "faults/lowering.h"
#include "faults/members.h"
#include "harness/observe/call_history.h"
#include "harness/scenario/op_names.h"

namespace rankfault {
namespace {

Status check_op(const FaultSpec& fault, rf_changed_arg field) {
  const rf_op op = op_from_word(fault.at.op).value_or(RF_OP_NONE);
  if (op == RF_OP_NONE)
    return usage_error("change_argument needs \"op\": the call whose argument changes", fault.at.pos);
  if (op == RF_OP_BARRIER || !(is_collective_op(op) || is_p2p_op(op)))
    return usage_error(fmt::format("{} has no argument to change", fault.at.op), fault.at.pos);
  const bool rooted = op == RF_OP_BROADCAST || op == RF_OP_REDUCE || op == RF_OP_GATHER ||
                      op == RF_OP_GATHERV || op == RF_OP_SCATTER || op == RF_OP_SCATTERV;
  const bool reduces = op == RF_OP_ALL_REDUCE || op == RF_OP_REDUCE || op == RF_OP_REDUCE_SCATTER ||
                       op == RF_OP_REDUCE_SCATTER_BLOCK || op == RF_OP_SCAN || op == RF_OP_EXSCAN;
  if ((field == RF_ARG_ROOT && !rooted) || (field == RF_ARG_REDUCE_OP && !reduces))
    return usage_error(fmt::format("{} has no {}", fault.at.op, read_text(fault.params, "field")),
                       fault.at.pos);
  if (fault.at.edge == Edge::kAfter)
    return usage_error("change_argument acts before the call: leave \"edge\" out", fault.at.pos);
  return Done{};
}

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_library_call(fault, "change_argument"); !ok) return ok.error();
  const rf_changed_arg field = argument_from_word(read_text(fault.params, "field"));
  if (Status ok = check_op(fault, field); !ok) return ok.error();
  if (context.scenario.workload.launcher == LauncherKind::kTorchrun && fault.at.library != "nccl")
    return usage_error(
        "change_argument cannot change the arguments of PyTorch's collectives: let the script pass other "
        "ones, or name the calls of NCCL below them by \"library: nccl\"",
        fault.at.pos);
  const Value* to = fault.params.find("to");
  RF_ASSERT(to != nullptr, "check_params asks for it");
  Result<int64_t> value = argument_value(field, *to, context.ranks);
  if (!value) return value.error();
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_ARG;
    action.mode = field;
    action.size = *value;
  });
}

int64_t argument_of(const rf_record& record, int field) {
  switch (field) {
    case RF_ARG_COUNT:
      return static_cast<int64_t>(record.count);
    case RF_ARG_DTYPE:
      return record.dtype;
    case RF_ARG_ROOT:
      return record.peer;
    case RF_ARG_REDUCE_OP:
      return record.reduce_op;
    default:
      return -1;
  }
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  const ProcessView* victim = process_of(gate, facts);
  if (!victim) return cannot_tell(fmt::format("rank {} has no record", gate.rank));
  const CallHistory own(*victim);
  const std::optional<FilledPlace> place = own.at_place(gate.comm_id, gate.seq);
  if (!place) return cannot_tell(fmt::format("rank {} has no record of call {}", gate.rank, gate.seq));
  const auto field = static_cast<rf_changed_arg>(action.mode);
  const int64_t mine = argument_of(*place->call->arguments(), field);
  if (mine != action.size)
    return not_bitten(
        fmt::format("rank {} made the call with its own argument {}", gate.rank, argument_text(field, mine)));
  for (const ProcessView* peer : peers_on(facts, *victim, gate.comm_id)) {
    const CallHistory history(*peer);
    const std::optional<FilledPlace> theirs = history.at_place(gate.comm_id, gate.seq);
    const int64_t other = theirs ? argument_of(*theirs->call->arguments(), field) : mine;
    if (other == mine) continue;
    return verified(fmt::format("rank {} made the {} with {}, rank {} with {}", gate.rank, gate.op,
                                argument_text(field, mine), peer->rank, argument_text(field, other)),
                    acted_at(gate));
  }
  return not_bitten("no peer made that call with another argument");
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "change_argument",
    .summary = "The victim makes the call with another count, datatype, root or reduce op than its peers.",
    .stands_for =
        "a rank with another model shape, precision or configuration; a wrong root after a re-numbering",
    .not_the_same = "a program that allocated for the new argument: the buffers stay those of the original "
                    "call (a larger count is refused where they cannot hold it)",
    .verified_by =
        "the victim's record of that call shows the new value, and a peer's record shows another one",
    .example = "change_argument@rank=1,op=all_reduce,nth=3,field=count,to=8",
    .params = {{"field", ParamType::kText, true, "Which argument.", argument_fields()},
               {"to", ParamType::kAny, true, "Its new value: a number, a datatype or a reduce op."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
