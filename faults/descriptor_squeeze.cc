// descriptor_squeeze: from the trigger on, the victim gets no further descriptor. The kernel returns EMFILE
// for files, sockets and pipes.
#include <errno.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include "faults/effect.h"
#include "faults/file_effect.h"
#include "faults/limit_lowering.h"
#include "harness/scenario/op_names.h"

namespace rankfault {
namespace {

// Any opening may fail, so all openings are recorded, in every rank.
Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  Result<std::vector<Action>> actions = lower_to_limit(fault, context, RLIMIT_NOFILE);
  if (!actions) return actions;
  Action watch;
  watch.rank = context.victims.empty() ? 0 : context.victims.front();
  watch.outside = "watch";
  watch.at.file_op = "open";
  watch.at.path = "*";
  actions->push_back(std::move(watch));
  return actions;
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  const auto limited = effect_line(action, facts, "limited");
  if (!limited) return cannot_tell(fmt::format("rankfault did not see the limit of rank {} set", gate.rank));
  const ProcessView* victim = process_of(gate, facts);
  if (!victim) return cannot_tell(fmt::format("rank {} has no record", gate.rank));
  const CallHistory history(*victim);
  const auto refused = history.left([&](const RecordedCall& call) {
    return call.traits().is_of_files && call.leave->phase == RF_PHASE_EXIT && call.result() == EMFILE &&
           call.left() >= gate.asked && !ended_by_fail_call(facts, history, call);
  });
  if (!refused.empty()) {
    const RecordedCall& call = *refused.front();
    const std::string* const path = history.path_of(call);
    return verified(
        fmt::format("rank {}'s {} of {} failed with EMFILE while {} descriptors were open", gate.rank,
                    op_text(call.op()), path ? *path : "a file", limited->in_use.value_or(0)),
        call.left(), {limited.n});
  }
  return not_bitten(fmt::format("no recorded open of rank {} failed with EMFILE afterwards", gate.rank),
                    {limited.n});
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

const Registration<FaultKind> kRegistration{{
    .name = "descriptor_squeeze",
    .summary = "The victim's soft limit of descriptors becomes the number that it has open at the trigger, "
               "for good or for a time.",
    .stands_for =
        "a descriptor leak that has used up the limit, a limit of 1024 in a job with many peers and loaders",
    .not_the_same = "a limit that holds from the start: open descriptors stay open, and connected sockets "
                    "continue to work",
    .verified_by = "an open of a file by the victim failed with EMFILE; sockets and pipes fail too, but are "
                   "not recorded",
    .example = "descriptor_squeeze@rank=0,step=15,op=all_reduce",
    .params = {{"spare", ParamType::kInt, false, "How many more it may open; 0 when not given."},
               {"for", ParamType::kDuration, false, "How long; until the victim's end when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
