#include "reports/back_end.h"

#include <fmt/format.h>

#include "harness/judge/oracle_queries.h"

namespace rankfault {

std::string case_of(const std::string& scenario) {
  std::string name = scenario;
  for (const char* word : {"mpi-", "ddp-", "fsdp-", "nccl-", "trainer-"})
    if (name.rfind(word, 0) == 0) name.erase(0, std::string(word).size());
  return name;
}

std::string back_end(const RunFacts& facts) {
  const bool by_mpirun = facts.plan.scenario.workload.launcher == LauncherKind::kMpirun;
  const LibraryTraits* found = &traits_of(by_mpirun ? RF_LIB_MPI : RF_LIB_NONE);
  for (const ProcessView& process : facts.timeline.processes) {
    const CallHistory history(process, OpenCalls::kByStates);
    for (const RecordedCall* call : communication_calls(history))
      if (call->traits().prominence > found->prominence) found = &call->traits();
  }
  if (found->prominence == 0) return "none";
  return found->runs_on_streams && !facts.cuda_double.empty() ? fmt::format("{}, CUDA doubled", found->title)
                                                              : found->title;
}

}  // namespace rankfault
