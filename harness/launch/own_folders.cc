#include "harness/launch/own_folders.h"

#include <string_view>

namespace rankfault {
namespace {

constexpr std::string_view kCuda = "cuda.a";  // followed by the attempt

bool is_cuda_folder(std::string_view name) {
  return name.starts_with(kCuda) && name.size() > kCuda.size() &&
         name.find_first_not_of("0123456789", kCuda.size()) == std::string_view::npos;
}

}  // namespace

std::string cuda_folder_name(int attempt) { return std::string(kCuda) + std::to_string(attempt); }

bool is_own_folder(const std::string& name) {
  return name.starts_with("store") || is_cuda_folder(name) || name == kLibraryLink;
}

}  // namespace rankfault
