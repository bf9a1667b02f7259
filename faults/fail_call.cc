// fail_call: the victim's call fails with the library's own error and is not made.
#include <errno.h>
#include <fmt/format.h>
#include <string.h>

#include "faults/effect.h"
#include "faults/lowering.h"
#include "faults/upper_call.h"
#include "harness/observe/call_history.h"
#include "harness/scenario/op_names.h"

namespace rankfault {
namespace {

constexpr int kLibrarysOwn = 0;  // the decoder of the library replaces it by the library's number

// Reads the name of an errno ("ENOSPC") or a number.
Result<int> code_of(const FaultSpec& fault) {
  const Value* written = fault.params.find("code");
  if (!written) {
    if (!fault.at.file_op.empty())
      return usage_error("fail_call at a file operation needs \"code\": an errno, such as ENOSPC", fault.pos);
    return kLibrarysOwn;
  }
  if (const int64_t* number = std::get_if<int64_t>(&written->data)) {
    if (*number > 0 && *number < 1 << 20) return static_cast<int>(*number);
    return usage_error("\"code\" must be 1 to 1048575: 0 means success", written->pos);
  }
  for (int number = 1; number < 134; ++number)
    if (const char* name = strerrorname_np(number); name && written->text == name) return number;
  return usage_error(fmt::format("\"{}\" is neither a number nor the name of an errno", written->text),
                     written->pos);
}

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  if (fault.at.edge == Edge::kAfter)
    return usage_error("fail_call replaces the call: leave \"edge\" out", fault.at.pos);
  const rf_op op = op_from_word(fault.at.op).value_or(RF_OP_NONE);
  if (is_mark_op(op) || !fault.at.mark.empty())
    return usage_error("fail_call needs a call: a mark cannot fail", fault.at.pos);
  Result<int> code = code_of(fault);
  if (!code) return code.error();
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_FAIL;
    action.fail_code = *code;
  });
}

EffectReport verify_one(const Action&, const GateEvent& gate, const RunFacts& facts) {
  if (gate.effect != "done")
    return cannot_tell(fmt::format("rank {} did not report that it failed the call", gate.rank));
  const ProcessView* victim = process_of(gate, facts);
  if (!victim) return cannot_tell(fmt::format("rank {} has no record", gate.rank));
  const CallHistory history(*victim);
  const auto failed = history.left([&](const RecordedCall& call) {
    return call.left_with_error() && call.left() >= acted_at(gate) && may_be_of(call, gate);
  });
  if (!failed.empty())
    return verified(
        fmt::format("rank {}'s {} returned an error ({})", gate.rank, gate.op, failed.front()->result()),
        failed.front()->left());
  return not_bitten(fmt::format("rank {}'s record shows no failed {}", gate.rank, gate.op));
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "fail_call",
    .summary = "The victim's call returns (or throws) the library's own error, and is not made.",
    .stands_for = "a transport error, a full disk, an exhausted resource, seen by one rank only",
    .not_the_same =
        "the state a real failure leaves inside the library: the communicator itself stays intact",
    .verified_by = "the victim's record of that call ends with an error",
    .example = "fail_call@rank=1,file_op=write,path=*ckpt*,code=ENOSPC",
    .params = {{"code", ParamType::kAny, false,
                "The library's code, or for files an errno by number or name; needed for files, otherwise "
                "the library's \"other\" when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
