// needs: see needs.h. The launchers check MPI, PyTorch and their versions; choose_cuda_double checks NCCL
// over the double.
#include "harness/launch/needs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/nccl_version.h"
#include "harness/launch/launchers/torchrun_program.h"

namespace rankfault {
namespace {

bool is_gpu_there() { return ::access("/dev/nvidiactl", R_OK | W_OK) == 0; }

Status need_met(const std::string& word, bool cuda_double) {
  if (word == "root" && ::geteuid() != 0) return missing("root is needed");
  if (word == "dev_shm" && ::access("/dev/shm", R_OK | W_OK | X_OK) != 0)
    return missing("/dev/shm cannot be written");
  const bool of_a_gpu = word == "gpu" || ((word == "nccl" || nccl_need(word)) && !cuda_double);
  if (of_a_gpu && !is_gpu_there())
    return missing(word + " is needed, but this machine has no GPU" +
                   (word == "gpu" ? "" : " (--cuda double: NCCL without one)"));
  return Done{};
}

bool is_there(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

// Parts that the build left out because something was not found then.
Status parts_built(const Workload& workload, const std::string& bin_dir, bool with_agent) {
  const auto needs = [&](auto is) { return std::any_of(workload.needs.begin(), workload.needs.end(), is); };
  const std::filesystem::path decoders = std::filesystem::path(bin_dir).parent_path() / "lib" / "decoders";
  const bool nccl = workload.cuda_double || needs([](const std::string& need) {
                      return need == "nccl" || nccl_need(need).has_value();
                    });
  if (nccl && with_agent && !is_there(decoders / "nccl.so"))
    return missing(
        "the NCCL decoder was not built, so no call of the job could be recorded "
        "(to add it: ./dev nccl)");
  const std::string own = "{bin}/", program = workload.command.empty() ? "" : workload.command[0];
  if (needs([](const std::string& need) { return need == "trainer" || need == "gloo"; }) &&
      program.starts_with(own) && !is_there(bin_dir + "/" + program.substr(own.size())))
    return missing(fmt::format("{}/{} was not built (to add it: {})", bin_dir, program.substr(own.size()),
                               nccl ? "./dev nccl"
                               : workload.launcher == LauncherKind::kMpirun
                                   ? "apt-get install libopenmpi-dev openmpi-bin && ./dev build"
                                   : "apt-get install libgloo-dev && ./dev build"));
  return Done{};
}

}  // namespace

Status needs_met(const Workload& workload, const std::string& bin_dir, bool with_agent) {
  if (const Status built = parts_built(workload, bin_dir, with_agent); !built) return built;
  for (const std::string& word : workload.needs) {
    if (const Status met = need_met(word, workload.cuda_double); !met) return met;
    if (word.starts_with("torch") &&
        workload.launcher != LauncherKind::kTorchrun)  // torchrun asks for itself
      if (const Status met = torch_needs_met(workload); !met) return met;
  }
  return Done{};
}

}  // namespace rankfault
