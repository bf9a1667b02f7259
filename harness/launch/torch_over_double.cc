#include "harness/launch/torch_over_double.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <vector>

#include "harness/symbols/dynamic_names.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHowToAdd = "./dev torch-nccl";
constexpr size_t kMostNames = 8;  // in one message

bool starts_with_one_of(const std::string& name, const std::vector<std::string>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](const auto& start) { return name.starts_with(start); });
}

bool is_library_of_cuda(const std::string& name) {
  return starts_with_one_of(name, {"libcu", "libnccl.", "libnv"});
}

bool is_function_of_cuda(const std::string& name) {
  if (name.starts_with("cu") && name.size() > 2 && std::isupper(static_cast<unsigned char>(name[2])))
    return true;
  return starts_with_one_of(name, {"__cuda", "cublas", "cuda", "cudnn", "cufft", "cupti", "curand",
                                   "cusolver", "cusparse", "nccl", "nvml", "nvrtc", "nvshmem"});
}

// What the libraries of PyTorch ask of others, all together.
struct Asked {
  std::set<std::string> needed;  // libraries of CUDA
  std::set<std::string> wanted, given;
  std::set<std::string> searched_first;
};

Asked asked_by(const std::string& libraries) {
  Asked all;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(libraries, none)) {
    const auto names = dynamic_names(entry.path().string());
    if (!names) continue;
    for (const std::string& library : names->needed)
      if (is_library_of_cuda(library)) all.needed.insert(library);
    all.wanted.insert(names->wanted.begin(), names->wanted.end());
    all.given.insert(names->given.begin(), names->given.end());
    all.searched_first.insert(names->searched_first.begin(), names->searched_first.end());
  }
  return all;
}

std::string found_in(const std::vector<std::string>& folders, const std::string& library) {
  std::error_code none;
  for (const std::string& folder : folders)
    if (!folder.empty() && fs::exists(folder + "/" + library, none)) return folder + "/" + library;
  return "";
}

// The loader looks beside PyTorch before it looks in LD_LIBRARY_PATH.
Status check_no_real_library(const Asked& asked, const TorchFiles& torch, const SourcePos& where) {
  const std::vector<std::string> first(asked.searched_first.begin(), asked.searched_first.end());
  for (const std::string& library : asked.needed) {
    const std::string real = found_in(first, library);
    if (real.empty()) continue;
    return usage_error(
        fmt::format(
            "PyTorch of {} would load {} and not the double of CUDA: use a virtual environment without "
            "NVIDIA's packages, such as that of {}, or uninstall the packages nvidia-* from this one",
            torch.python, fs::path(real).lexically_normal().string(), kHowToAdd),
        where);
  }
  return Done{};
}

Status check_functions(const CudaDouble& cuda, const TorchFiles& torch, const Asked& asked,
                       const std::set<std::string>& given, const SourcePos& where) {
  std::vector<std::string> lacking, of_nccl;
  for (const std::string& name : asked.wanted)
    if (is_function_of_cuda(name) && !asked.given.count(name) && !given.count(name))
      (name.starts_with("nccl") ? of_nccl : lacking).push_back(name);
  std::vector<std::string>& worst = of_nccl.empty() ? lacking : of_nccl;
  if (worst.empty()) return Done{};
  const size_t more = worst.size() - std::min(worst.size(), kMostNames);
  worst.resize(worst.size() - more);
  return usage_error(
      fmt::format("PyTorch {} of {} calls functions that {} lacks: {}{} ({})", torch.version, torch.python,
                  of_nccl.empty() ? "the double of CUDA" : "NCCL " + cuda.nccl, fmt::join(worst, ", "),
                  more ? fmt::format(" and {} more", more) : "",
                  of_nccl.empty()
                      ? fmt::format("{} makes the double for the wheel that it installs", kHowToAdd)
                      : "use a newer one: --nccl, ./dev nccl"),
      where);
}

}  // namespace

bool is_cuda_torch(const std::string& libraries) {
  std::error_code none;
  return !libraries.empty() && fs::exists(libraries + "/libtorch_cuda.so", none);
}

Status check_torch_over_double(const CudaDouble& cuda, const TorchFiles& torch, const SourcePos& where) {
  if (!is_cuda_torch(torch.libraries))
    return usage_error(
        fmt::format("PyTorch {} of {} is built without CUDA, so it cannot run over the double of CUDA "
                    "({} installs one that can; RANKFAULT_PYTHON chooses another Python)",
                    torch.version, torch.python, kHowToAdd),
        where);
  const Asked asked = asked_by(torch.libraries);
  if (const Status double_is_used = check_no_real_library(asked, torch, where); !double_is_used)
    return double_is_used;
  std::set<std::string> given;
  for (const std::string& library : asked.needed) {
    const std::string path = found_in({cuda.library, cuda.folder, cuda.torch}, library);
    if (path.empty())
      return usage_error(fmt::format("PyTorch {} of {} needs {}, which has no double in {} ({})",
                                     torch.version, torch.python, library, cuda.folder, kHowToAdd),
                         where);
    if (const auto names = dynamic_names(path)) given.insert(names->given.begin(), names->given.end());
  }
  return check_functions(cuda, torch, asked, given, where);
}

}  // namespace rankfault
