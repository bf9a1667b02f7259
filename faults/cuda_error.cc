// cuda_error: a wait of the victim for the device returns one of the errors that a driver gives.
//
// Numbers and meanings: cudaError in CUDA's public driver_types.h; the driver's CUresult has the same ones
// here.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "faults/effect.h"
#include "faults/lowering.h"

namespace rankfault {
namespace {

struct CudaError {
  const char* word;
  int number;
};
constexpr CudaError kErrors[] = {{"out_of_memory", 2},     {"ecc_uncorrectable", 214},
                                 {"illegal_address", 700}, {"launch_timeout", 702},
                                 {"launch_failure", 719},  {"unknown", 999}};

int number_of(const FaultSpec& fault) {
  const std::string word = read_text(fault.params, "error", "");
  const auto found = std::find_if(std::begin(kErrors), std::end(kErrors),
                                  [&](const CudaError& e) { return word == e.word; });
  RF_ASSERT(found != std::end(kErrors), "check_params knows the words");
  return found->number;
}

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_library_call(fault, "cuda_error"); !ok) return ok.error();
  if (fault.at.op != "stream_wait")
    return usage_error("cuda_error fires where the host waits for the device: write op: stream_wait",
                       fault.at.pos);
  if (fault.at.edge == Edge::kAfter)
    return usage_error("cuda_error stands in place of the wait: leave \"edge\" out", fault.at.pos);
  const bool sticky = read_bool(fault.params, "sticky", false);
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_FAIL;
    action.fail_code = number_of(fault);
    if (sticky && !fault.times_given) action.times = UINT64_MAX;
  });
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  if (gate.effect != "done")
    return cannot_tell(fmt::format("rank {} did not say that it failed the wait", gate.rank));
  const ProcessView* victim = process_of(gate, facts);
  if (!victim) return cannot_tell(fmt::format("there is no flight record of rank {}", gate.rank));
  for (const Event& event : victim->history) {
    const rf_record& r = event.record;
    if (r.op == RF_OP_STREAM_WAIT && r.phase == RF_PHASE_EXIT && r.tag_or_result == action.fail_code &&
        r.time_ns >= acted_at(gate))
      return verified(fmt::format("a wait of rank {} returned CUDA's error {}", gate.rank, action.fail_code),
                      r.time_ns);
  }
  return not_bitten(
      fmt::format("rank {}'s record shows no wait that ended with {}", gate.rank, action.fail_code));
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  return verify_each(fault, facts, verify_one);
}

std::vector<std::string> words() {
  std::vector<std::string> all;
  for (const CudaError& error : kErrors) all.emplace_back(error.word);
  return all;
}

const Registration<FaultKind> kRegistration{{
    "cuda_error",
    "A wait of the victim for the device returns an error of the driver, and is not made.",
    "an ECC error, an illegal address or a failed kernel on one device",
    "the device: kernels go on, and calls that do not wait still succeed",
    "the victim's record of that wait ends with this error",
    "cuda_error@rank=1,op=stream_wait,nth=3,error=ecc_uncorrectable,sticky=true",
    false,
    {{"error", ParamType::kText, true, "Which one.", words()},
     {"sticky", ParamType::kBool, false,
      "Whether every later wait returns it, too, as CUDA's sticky errors do."}},
    lower,
    verify,
}};

}  // namespace
}  // namespace rankfault
