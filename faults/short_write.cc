// short_write: a write takes fewer bytes than it was given, and returns their number, as write(2) may.
#include <fmt/format.h>

#include "faults/effect.h"
#include "faults/lowering.h"
#include "harness/observe/call_history.h"

namespace rankfault {
namespace {

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (fault.at.file_op != "write" || fault.at.edge == Edge::kAfter)
    return usage_error("short_write needs a trigger before a write: at: {file_op: write, path: ...}",
                       fault.pos);
  const int64_t bytes = read_int(fault.params, "bytes", 0);
  if (bytes < 1)
    return usage_error("\"bytes\" must be at least 1: a program would repeat a write of 0 bytes forever",
                       fault.params.find("bytes")->pos);
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_ARG;
    action.mode = RF_ARG_COUNT;
    action.size = bytes;
  });
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  const ProcessView* victim = process_of(gate, facts);
  if (!victim) return cannot_tell(fmt::format("rank {} has no record", gate.rank));
  const CallHistory history(*victim);
  const auto writes = history.entered([&](const RecordedCall& call) {
    return call.op() == RF_OP_FILE_WRITE && call.entered() >= gate.asked;
  });
  // Only the first write after the gate counts.
  if (!writes.empty() && static_cast<int64_t>(writes.front()->enter->count) == action.size)
    return verified(fmt::format("rank {}'s write of {} bytes wrote only {}", gate.rank, gate.count,
                                writes.front()->enter->count),
                    writes.front()->entered());
  return not_bitten(
      fmt::format("rank {}'s record shows no write of {} bytes at the fault", gate.rank, action.size));
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "short_write",
    .summary = "The victim's write writes fewer bytes than the program asked for, and returns their number.",
    .stands_for = "a disk that is nearly full, a quota, a signal during a large write, a network file system",
    .not_the_same =
        "a failing write: this one succeeds, and a program that does not check the number loses the rest",
    .verified_by =
        "the victim's record of that write has that many bytes; void where the program asked for no more",
    .example = "short_write@rank=0,file_op=write,nth=2,bytes=100",
    .params = {{"bytes", ParamType::kInt, true, "How many bytes it writes, at least 1."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
