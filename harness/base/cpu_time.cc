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

Duration time_of(clockid_t clock) {
  timespec used{};
  ::clock_gettime(clock, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

Duration cpu_time(int pid) {
  clockid_t clock{};
  return ::clock_getcpuclockid(pid, &clock) == 0 ? time_of(clock) : Duration{};
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

Duration cpu_time_with_helpers(int pid) {
  std::vector<int> all{pid};
  Duration used{};
  for (size_t i = 0; i < all.size(); ++i) {
    used += cpu_time(all[i]);
    add_children(all[i], all);
  }
  return used;
}

Duration thread_cpu_time() { return time_of(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace rankfault
