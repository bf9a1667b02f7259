// Preflight: the checks, and the values of this host.
#include "workloads/trainer/preflight.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "workloads/trainer/collectives.h"

namespace trainer {

namespace {

// The descriptors that a process needs besides the sockets of a mesh.
constexpr uint64_t kDescriptorsBesides = 32;

std::map<std::string, std::string> this_environment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const char* equals = std::strchr(*entry, '=');
    if (equals) all[std::string(*entry, static_cast<size_t>(equals - *entry))] = equals + 1;
  }
  return all;
}

uint64_t descriptors_allowed() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace

Defects useless_variables(const std::map<std::string, std::string>& environment) {
  static const std::map<std::string, std::string> kUseless = {
      {"NCCL_TIMEOUT",
       "NCCL has no such variable; a limit is given to the process group or kept by a watchdog"},
      {"NCCL_ASYNC_ERROR_HANDLING", "PyTorch reads TORCH_NCCL_ASYNC_ERROR_HANDLING"},
      {"NCCL_BLOCKING_WAIT", "PyTorch reads TORCH_NCCL_BLOCKING_WAIT"},
      {"GLOO_TIMEOUT", "Gloo reads no environment; a limit is given to its context"},
      {"GLOO_TIMEOUT_SECONDS", "Gloo reads no environment; a limit is given to its context"},
  };
  Defects defects;
  for (const auto& [name, value] : environment)
    if (const auto found = kUseless.find(name); found != kUseless.end())
      defects.push_back(name + "=" + value + " does nothing: " + found->second);
  return defects;
}

Defects too_little_space(const std::string& path, uint64_t needed) {
  std::filesystem::path there = path;
  std::error_code error;
  while (!std::filesystem::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  struct statvfs status {};
  if (::statvfs(there.c_str(), &status) != 0)
    return {"cannot read the free space in " + path + ": " + std::strerror(errno)};
  const uint64_t free = static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
  if (free >= needed) return {};
  return {path + " has " + std::to_string(free) + " bytes free, " + std::to_string(needed) + " are needed"};
}

Defects too_few_descriptors(uint64_t allowed, int ranks) {
  const uint64_t needed = static_cast<uint64_t>(ranks) + kDescriptorsBesides;
  if (allowed >= needed) return {};
  return {"only " + std::to_string(allowed) + " descriptors are allowed, " + std::to_string(ranks) +
          " ranks take about " + std::to_string(needed)};
}

Defects wrong_all_reduce(Collectives& world) {
  const int64_t n = world.size(), expected = n * (n + 1) / 2;
  int64_t sum = world.rank() + 1;
  world.sum(&sum, 1);
  if (sum == expected) return {};
  return {"a test all-reduce gave " + std::to_string(sum) + ", right is " + std::to_string(expected)};
}

Defects preflight(const PreflightNeeds& needs, Collectives& world) {
  Defects all = wrong_all_reduce(world);
  const auto add = [&all](const Defects& some) { all.insert(all.end(), some.begin(), some.end()); };
  add(useless_variables(this_environment()));
  if (!needs.checkpoint_dir.empty()) add(too_little_space(needs.checkpoint_dir, needs.checkpoint_bytes));
  add(too_little_space("/dev/shm", needs.shm_bytes));
  add(stale_segments("/dev/shm"));
  add(too_few_descriptors(descriptors_allowed(), world.size()));
  return all;
}

}  // namespace trainer
