// torch_needs: whether the PyTorch of a workload has what the workload needs.
#include <fmt/format.h>

#include <algorithm>

#include "harness/agent/torch_versions.h"
#include "harness/base/nccl_version.h"
#include "harness/launch/launcher.h"
#include "harness/launch/launchers/torchrun_program.h"
#include "harness/launch/torch_over_double.h"

namespace rankfault {
namespace {

bool needs(const Workload& workload, const char* word) {
  return std::find(workload.needs.begin(), workload.needs.end(), word) != workload.needs.end();
}

// Of a build such as "2.13.0+cpu" the numbers count. A program whose version is not known may have any.
bool fits(const TorchrunProgram& program, const VersionNeed& need) {
  const auto there =
      nccl_version(program.version.substr(0, program.version.find_first_not_of("0123456789.")));
  return program.version.empty() || (there && need.met_by(*there));
}

// Why this PyTorch cannot run the workload; "": it can. Without recorded calls a scenario about them could
// only be void.
std::string lacks(const TorchrunProgram& program, const Workload& workload) {
  const bool about_calls = needs(workload, "torch") || needs(workload, "torch2");
  if (about_calls && !program.records_calls())
    return fmt::format("PyTorch {} is needed, but {} has {}{}, whose calls are not recorded",
                       RF_TORCH_VERSIONS, program.python, program.version,
                       program.old_abi ? " for the older C++ ABI" : "");
  if (program.is_pytorch_1() && (needs(workload, "torch2") || workload.nodes > 1))
    return fmt::format("PyTorch 2 is needed, but {} has {}{}", program.python, program.version,
                       workload.nodes > 1 ? ", whose torchrun has no nodes" : "");
  for (const std::string& word : workload.needs)
    if (const auto need = torch_need(word); need && !fits(program, *need))
      return fmt::format("{} is needed, but {} has {}", word, program.python, program.version);
  if (needs(workload, "torch_cuda") && !is_cuda_torch(program.libraries))
    return fmt::format("PyTorch built with CUDA is needed, but {} has {}", program.python, program.version);
  return "";
}

}  // namespace

Status torch_needs_met(const Workload& workload) {
  const TorchrunProgram& program = torchrun_program(workload);
  if (!program.slow.empty()) return host_refused(program.slow);
  if (!program.missing.empty())
    return workload.torchrun.empty() ? Status(missing(program.missing)) : usage_error(program.missing);
  if (const std::string lack = lacks(program, workload); !lack.empty())
    return missing(
        fmt::format("{} ({})", lack, needs(workload, "torch_cuda") ? kHowToAddTorchCuda : kHowToAddTorch));
  return Done{};
}

}  // namespace rankfault
