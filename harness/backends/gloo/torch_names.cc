// torch_names.cc: reads the prefixes of PyTorch's stores.
#include "harness/backends/gloo/torch_names.h"

#include <algorithm>

#include "harness/backends/gloo/torch_layout.h"
#include "harness/backends/gloo/torch_version.h"

namespace rankfault::gloo_decoder {
namespace {

bool names_a_group(const std::string& prefix) {
  constexpr const char* kOthers[] = {"", "cpu", "cuda", "gloo", "nccl", "default_pg", "worker"};
  return std::none_of(std::begin(kOthers), std::end(kOthers),
                      [&](const char* other) { return prefix == other; });
}

}  // namespace

std::string prefix_of(void* store) {
  for (int depth = 0; depth < 8 && store; ++depth) {
    if (!is_prefix_store(store)) break;
    const auto& prefix = layout::at<std::string>(store, torch.offsets->prefix_of_prefix_store);
    std::string name = prefix.substr(0, prefix.find('/'));
    if (names_a_group(name)) return name;
    store = layout::at<void*>(store, torch.offsets->prefix_of_prefix_store + sizeof(std::string));
  }
  return "";
}

// A name that is only a number is unclear, so it gets the prefix "group".
std::string name_of(const std::string& prefix, bool is_world) {
  if (is_world) return "world";
  const bool number = !prefix.empty() && prefix.find_first_not_of("0123456789") == std::string::npos;
  return number ? "group" + prefix : prefix;
}

}  // namespace rankfault::gloo_decoder
