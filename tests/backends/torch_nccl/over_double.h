// over_double: the PyTorch that `./dev torch-nccl` prepared, and what its ranks need to run over the double
// of CUDA.
#pragma once

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace rankfault::test {

inline constexpr const char* kNoTorchNccl = "./dev torch-nccl was not run";

inline std::string double_folder() {
  const char* build = std::getenv("RANKFAULT_BUILD_DIR");
  return std::string(build ? build : ".") + "/lib/cuda_double";
}

// The library for CUDA of a Python's PyTorch; "": it has none.
inline std::string torch_library_of(const std::string& python) {
  const auto lib = std::filesystem::path(python).parent_path().parent_path() / "lib";
  std::error_code none;
  for (const auto& folder : std::filesystem::directory_iterator(lib, none)) {
    const auto library = folder.path() / "site-packages/torch/lib/libtorch_cuda.so";
    if (std::filesystem::exists(library)) return library;
  }
  return "";
}

// The Python that the tool starts over the double: RANKFAULT_PYTHON if its PyTorch is built with CUDA. "":
// there is none.
inline std::string torch_nccl_python() {
  const char* given = std::getenv("RANKFAULT_PYTHON");
  if (given && !torch_library_of(given).empty()) return given;
  std::string python;
  std::getline(std::ifstream(double_folder() + "/torch/python"), python);
  return std::filesystem::exists(python) ? python : "";
}
inline std::string torch_library() { return torch_library_of(torch_nccl_python()); }

inline std::string newest_nccl() {
  std::string newest;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(double_folder(), none)) {
    const std::string path = entry.path();
    if (path.find("/nccl-") != path.npos && strverscmp(path.c_str(), newest.c_str()) > 0) newest = path;
  }
  return newest;
}

// The environment of a rank. `meet`: a folder of the job.
inline std::map<std::string, std::string> over_double(const std::string& meet) {
  return {{"LD_LIBRARY_PATH", newest_nccl() + ":" + double_folder() + ":" + double_folder() + "/torch"},
          {"RANKFAULT_CUDA_FOLDER", meet},
          {"NCCL_SOCKET_IFNAME", "lo"},
          {"NCCL_P2P_DISABLE", "1"},
          {"NCCL_IB_DISABLE", "1"},
          {"NCCL_CUMEM_ENABLE", "0"},
          {"NCCL_CUMEM_HOST_ENABLE", "0"},
          {"NCCL_RAS_ENABLE", "0"},
          {"TORCH_FR_BUFFER_SIZE", "2000"}};
}

}  // namespace rankfault::test
