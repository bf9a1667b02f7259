#include "faults/lowering.h"

#include <fmt/format.h>

#include "harness/scenario/op_names.h"

namespace rankfault {

std::vector<Action> for_each_victim(const FaultSpec& fault, const LowerContext& context,
                                    const std::function<void(Action&)>& fill) {
  std::vector<Action> out;
  for (int rank : context.victims) {
    Action action;
    action.rank = rank;
    action.at = fault.at;
    action.times = fault.times.count == kEveryTime ? UINT64_MAX : static_cast<uint64_t>(fault.times.count);
    action.each_attempt = fault.each_attempt;
    fill(action);
    out.push_back(std::move(action));
  }
  return out;
}

Status need_trigger(const FaultSpec& fault) {
  const Trigger& at = fault.at;
  const bool written = !at.op.empty() || !at.file_op.empty() || !at.mark.empty() || at.step || at.nth != 1 ||
                       !at.phase.empty() || at.attempt || !at.library.empty() || !at.after_fault.empty() ||
                       at.comm.kind != CommSelector::Kind::kAny || at.pos.line > 0;
  if (written) return Done{};
  return usage_error(fmt::format("{} needs \"at\": the trigger at which it fires", fault.kind), fault.pos);
}

Status need_library_call(const FaultSpec& fault, const char* what) {
  if (Status ok = need_trigger(fault); !ok) return ok;
  const Trigger& at = fault.at;
  if (!at.file_op.empty())
    return usage_error(fmt::format("{} acts on a library call; {} is a file operation", what, at.file_op),
                       at.pos);
  const rf_op op = op_from_word(at.op).value_or(RF_OP_NONE);
  if (!at.mark.empty() || is_mark_op(op))
    return usage_error(fmt::format("{} acts on a library call, not on a mark", what), at.pos);
  return Done{};
}

}  // namespace rankfault
