#include "harness/launch/cuda_double.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "harness/base/nccl_version.h"
#include "harness/symbols/dynamic_names.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;

// The bytes that a rank of NCCL 2.29 puts into /dev/shm for one communicator, measured; NCCL_BUFFSIZE=65536
// halves it.
constexpr uint64_t kSegmentBytes = 54u << 20;

constexpr int kOwnDevices = 8;  // that the double has by itself (cuda_double/core/settings.h)

std::string cuda_double_folder(const std::string& bin_dir) {
  return (fs::path(bin_dir).parent_path() / "lib" / "cuda_double").string();
}

bool is_runtime(const std::string& library) { return library.rfind("libcudart.so", 0) == 0; }

// Python and shells load their libraries later: nothing is known about them here.
Status check_runtime(const CudaDouble& cuda, const std::string& program, const SourcePos& where) {
  const auto names = dynamic_names(program);
  if (!names) return Done{};
  const auto runtime = std::find_if(names->needed.begin(), names->needed.end(), is_runtime);
  if (runtime == names->needed.end()) {
    // every build of the runtime contains its table of error names, stripped or not
    if (!file_has_text(program, "cudaErrorInvalidDeviceFunction")) return Done{};
    return usage_error(program +
                           ": the CUDA runtime is linked statically, so the double cannot replace it: link "
                           "it shared (nvcc: -cudart shared, CMake: CUDA::cudart)",
                       where);
  }
  const auto given = dynamic_names(cuda.folder + "/" + *runtime);
  if (!given)
    return usage_error(fmt::format("{} needs {}, which has no double in {}", program, *runtime, cuda.folder),
                       where);
  std::vector<std::string> lacking;
  for (const std::string& name : names->wanted)
    if (name.rfind("cuda", 0) == 0 && !given->given.count(name)) lacking.push_back(name);
  if (lacking.empty()) return Done{};
  return usage_error(fmt::format("{} calls functions that the double of {} lacks: {}", program, *runtime,
                                 fmt::join(lacking, ", ")),
                     where);
}

}  // namespace

std::vector<std::string> nccl_over_double(const std::string& bin_dir) {
  std::vector<std::string> all;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(cuda_double_folder(bin_dir), none)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("nccl-", 0) == 0 && nccl_version(name.substr(5)) &&
        fs::exists(entry.path() / "libnccl.so.2", none))
      all.push_back(name.substr(5));
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return *nccl_version(a) > *nccl_version(b); });
  return all;
}

std::string python_over_double(const std::string& bin_dir) {
  std::string python;
  std::getline(std::ifstream(cuda_double_folder(bin_dir) + "/torch/python"), python);
  return ::access(python.c_str(), X_OK) == 0 ? python : "";
}

Result<CudaDouble> choose_cuda_double(const Workload& workload, const std::string& bin_dir) {
  const std::vector<std::string> built = nccl_over_double(bin_dir);
  if (built.empty()) return missing("NCCL over the double of CUDA is not built (to add it: ./dev nccl)");
  const auto fits = [&](const std::string& version) {
    return (workload.nccl.empty() || *nccl_version(version) == *nccl_version(workload.nccl)) &&
           nccl_needs_met(workload.needs, *nccl_version(version));
  };
  const auto found = std::find_if(built.begin(), built.end(), fits);
  if (found != built.end()) {
    const std::string folder = cuda_double_folder(bin_dir), torch = folder + "/torch";
    return CudaDouble{*found, folder + "/nccl-" + *found, folder, fs::is_directory(torch) ? torch : ""};
  }
  std::vector<std::string> wanted;
  for (const std::string& need : workload.needs)
    if (nccl_need(need)) wanted.push_back(need);
  if (!workload.nccl.empty()) wanted.push_back("nccl " + workload.nccl);
  return missing(fmt::format("{} is needed, but the double has NCCL {}", fmt::join(wanted, ", "),
                             fmt::join(built, ", ")));
}

Status check_cuda_room(const CudaDouble& cuda, const Workload& workload) {
  const auto says = [&](const char* name) { return workload.env.count(name) ? workload.env.at(name) : ""; };
  struct statvfs there {};
  if (says("NCCL_SHM_DISABLE") == "1" || ::statvfs("/dev/shm", &there) != 0) return Done{};
  const uint64_t of_one = says("NCCL_BUFFSIZE").empty() ? kSegmentBytes : kSegmentBytes / 2;
  const uint64_t wanted = static_cast<uint64_t>(workload.ranks) * of_one,
                 room = there.f_bavail * there.f_bsize;
  if (room >= wanted) return Done{};
  return usage_error(
      fmt::format(
          "/dev/shm has room for {} MB, and {} ranks of NCCL {} may need {} MB there: use fewer ranks, "
          "NCCL_BUFFSIZE=65536, or a larger /dev/shm",
          room >> 20, workload.ranks, cuda.nccl, wanted >> 20),
      workload.pos);
}

Status check_cuda_double(const CudaDouble& cuda, const Workload& workload, const std::string& program) {
  if (const Status room = check_cuda_room(cuda, workload); !room) return room;
  return check_runtime(cuda, program, workload.pos);
}

void put_cuda_double_first(const CudaDouble& cuda, std::map<std::string, std::string>& env) {
  std::string& path = env["LD_LIBRARY_PATH"];
  std::string ours = cuda.library + ":" + cuda.folder;
  if (!cuda.torch.empty()) ours += ":" + cuda.torch;
  path = ours + (path.empty() ? "" : ":" + path);
}

void add_cuda_double(const CudaDouble& cuda, int ranks, const std::string& meet,
                     std::map<std::string, std::string>& env) {
  put_cuda_double_first(cuda, env);
  env["RANKFAULT_CUDA_FOLDER"] = meet;
  if (ranks > kOwnDevices) env.emplace("RANKFAULT_CUDA_DEVICES", std::to_string(ranks));
  // loopback and /dev/shm, as on one host without peer access; RAS has one port a host, not one a job
  for (const auto& [name, value] : std::map<std::string, std::string>{{"NCCL_SOCKET_IFNAME", "lo"},
                                                                      {"NCCL_P2P_DISABLE", "1"},
                                                                      {"NCCL_IB_DISABLE", "1"},
                                                                      {"NCCL_CUMEM_ENABLE", "0"},
                                                                      {"NCCL_CUMEM_HOST_ENABLE", "0"},
                                                                      {"NCCL_RAS_ENABLE", "0"}})
    env[name] = value;
}

}  // namespace rankfault
