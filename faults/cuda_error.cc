// cuda_error: a call of CUDA by the victim, or by NCCL in it, returns an error that a driver returns.
//
// Numbers and meanings: cudaError in CUDA's public driver_types.h. For these errors, the driver's CUresult
// has the same numbers.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "faults/effect.h"
#include "faults/lowering.h"
#include "harness/observe/call_history.h"
#include "harness/scenario/op_names.h"

namespace rankfault {
namespace {

struct CudaError {
  const char* word;
  int number;
};
constexpr CudaError kErrors[] = {{"out_of_memory", 2},     {"ecc_uncorrectable", 214},
                                 {"illegal_address", 700}, {"launch_timeout", 702},
                                 {"launch_failure", 719},  {"unknown", 999}};

// A call that can fail: its operation in the record, and its word in messages.
struct Place {
  rf_op op;
  const char* word;
};
constexpr Place kPlaces[] = {{RF_OP_STREAM_WAIT, "wait"},
                             {RF_OP_DEVICE_ALLOC, "allocation"},
                             {RF_OP_DEVICE_LAUNCH, "launch"},
                             {RF_OP_DEVICE_QUERY, "query"}};

const Place* place_of(const std::string& op) {
  const auto found = std::find_if(std::begin(kPlaces), std::end(kPlaces),
                                  [&](const Place& place) { return op == op_text(place.op); });
  return found == std::end(kPlaces) ? nullptr : found;
}

int number_of(const FaultSpec& fault) {
  const std::string word = read_text(fault.params, "error", "");
  const auto found = std::find_if(std::begin(kErrors), std::end(kErrors),
                                  [&](const CudaError& e) { return word == e.word; });
  RF_ASSERT(found != std::end(kErrors), "check_params knows the words");
  return found->number;
}

Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  if (Status ok = need_library_call(fault, "cuda_error"); !ok) return ok.error();
  if (!place_of(fault.at.op))
    return usage_error(
        "cuda_error fires at a CUDA call: write op: stream_wait, device_alloc, device_launch or device_query",
        fault.at.pos);
  if (fault.at.edge == Edge::kAfter)
    return usage_error("cuda_error replaces the call: leave \"edge\" out", fault.at.pos);
  const bool sticky = read_bool(fault.params, "sticky", false);
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_FAIL;
    action.fail_code = number_of(fault);
    if (sticky && !fault.times.given) action.times = UINT64_MAX;
  });
}

EffectReport verify_one(const Action& action, const GateEvent& gate, const RunFacts& facts) {
  const Place* place = place_of(action.at.op);
  RF_ASSERT(place, "lower refuses other calls");
  if (gate.effect != "done")
    return cannot_tell(fmt::format("rank {} did not report that it failed the {}", gate.rank, place->word));
  const ProcessView* victim = process_of(gate, facts);
  if (!victim) return cannot_tell(fmt::format("rank {} has no record", gate.rank));
  const CallHistory history(*victim);
  const auto failed = history.left([&](const RecordedCall& call) {
    return call.op() == place->op && call.leave->phase == RF_PHASE_EXIT &&
           call.result() == action.fail_code && call.left() >= acted_at(gate);
  });
  if (!failed.empty()) {
    const std::string* const path = history.path_of(*failed.front());
    return verified(fmt::format("{}{} of rank {} returned CUDA error {}", place->word,
                                path ? " (" + *path + ")" : "", gate.rank, action.fail_code),
                    failed.front()->left());
  }
  return not_bitten(fmt::format("rank {}'s record shows no {} that ended with {}", gate.rank, place->word,
                                action.fail_code));
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
    .name = "cuda_error",
    .summary = "A CUDA call is not made and returns a driver error: a wait of the victim for the device; an "
               "allocation, launch or query by the victim or by NCCL in it (path: \"nccl:*\", "
               "\"program:cudaMalloc\").",
    .stands_for = "an ECC error, an illegal address, a failed kernel or an exhausted memory on one device",
    .not_the_same = "the device: kernels continue, other calls still succeed; driver calls that NCCL finds "
                    "by dlsym are not reached",
    .verified_by = "the victim's record of that call ends with this error",
    .example = "cuda_error@rank=1,op=stream_wait,nth=3,error=ecc_uncorrectable,sticky=true",
    .params = {{"error", ParamType::kText, true, "Which error.", words()},
               {"sticky", ParamType::kBool, false,
                "Whether every later call of this kind returns it too, as CUDA's sticky errors do."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
