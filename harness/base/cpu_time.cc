#include "harness/base/cpu_time.h"

#include <fmt/format.h>
#include <time.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace rankfault {
namespace {

constexpr size_t kMostHelpers = 256;

uint64_t cpu_ns(int pid) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(used.tv_nsec);
}

// Each thread has its own list of the children that it forked.
void add_children(int pid, std::vector<int>& all) {
  std::error_code error;
  for (std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", pid), error), end;
       !error && task != end; task.increment(error)) {
    std::ifstream in(task->path() / "children");
    for (int child = 0; in >> child && all.size() < kMostHelpers;) all.push_back(child);
  }
}

}  // namespace

uint64_t cpu_ns_with_helpers(int pid) {
  std::vector<int> all{pid};
  uint64_t used = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    used += cpu_ns(all[i]);
    add_children(all[i], all);
  }
  return used;
}

}  // namespace rankfault
