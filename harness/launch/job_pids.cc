#include "harness/launch/job_pids.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "harness/base/process_tree.h"

namespace rankfault {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kTick = 10'000'000;  // the clock that stamps objects lags by at most one tick

int64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

int64_t second_of_start(uint64_t start) {
  const int64_t since_boot = static_cast<int64_t>(start) * (kSecond / ::sysconf(_SC_CLK_TCK));
  return (clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) + since_boot - kTick) / kSecond;
}

}  // namespace

bool JobPids::add(int pid, uint64_t start) { return add(pid, start, {second_of_start(start)}); }

bool JobPids::add(int pid, uint64_t start, Life life) {
  return pid > 0 && lives_[pid].emplace(start, life).second;
}

void JobPids::ended(int pid, uint64_t start) {
  if (pid <= 0) return;
  add(pid, start);
  Life& life = lives_[pid][start];
  life.until = std::min(life.until, clock_ns(CLOCK_REALTIME) / kSecond);
}

bool JobPids::was_there(int pid, int64_t second) const {
  const auto of_pid = lives_.find(pid);
  if (of_pid == lives_.end()) return false;
  return std::any_of(of_pid->second.begin(), of_pid->second.end(), [&](const auto& entry) {
    const auto& [start, life] = entry;
    if (second < life.from || second > life.until) return false;
    if (life.until != INT64_MAX) return true;
    const auto now = proc_stat(pid);
    return !now || now->start == start || second < second_of_start(now->start);
  });
}

}  // namespace rankfault
