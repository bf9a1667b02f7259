#include "harness/observe/proc.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "harness/base/cpu_time.h"
#include "harness/base/process_tree.h"

namespace rankfault {
namespace {

char thread_state(int pid, uint64_t tid) {
  std::FILE* file = std::fopen(fmt::format("/proc/{}/task/{}/stat", pid, tid).c_str(), "re");
  if (!file) return 0;
  char text[512];
  const size_t n = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[n] = 0;
  const char* after_name = std::strrchr(text, ')');
  return after_name && after_name[1] == ' ' ? after_name[2] : 0;
}

// The link count of the folder is the number of threads plus its own two.
uint32_t count_threads(int pid) {
  struct stat task {};
  const bool there = ::stat(fmt::format("/proc/{}/task", pid).c_str(), &task) == 0;
  return there && task.st_nlink > 2 ? static_cast<uint32_t>(task.st_nlink - 2) : 0;
}

void keep_living(int pid, std::vector<uint32_t>& threads) {
  threads.erase(std::remove_if(threads.begin(), threads.end(),
                               [pid](uint32_t id) {
                                 return ::access(fmt::format("/proc/{}/task/{}", pid, id).c_str(), F_OK) != 0;
                               }),
                threads.end());
}

}  // namespace

void read_proc_states(ProcessView& view) {
  const auto stat = proc_stat(view.id.pid);
  if (!stat || stat->start != view.id.start) return;
  view.stopped = stat->state == 'T';
  view.dying = stat->dying;
  view.threads = count_threads(view.id.pid);
  keep_living(view.id.pid,
              view.own_threads);  // after the count: a thread that ends in between is not subtracted from it
  for (LaneView& lane : view.lanes)
    if (lane.kind == RF_LANE_THREAD) lane.thread_state = thread_state(view.id.pid, lane.owner);
}

void StopWatch::read(ProcessView& view, Instant now) {
  constexpr size_t kMost = 8;
  if (view.stopped && !was_stopped_) stops_.push_back({now, now});
  if (view.stopped) stops_.back().last_seen = now;
  if (stops_.size() > kMost) stops_.erase(stops_.begin());
  was_stopped_ = view.stopped;
  view.stops = stops_;
}

void CpuWatch::read(ProcessView& view, Instant now) {
  constexpr Duration kEvery = 450ms;
  constexpr int kBusyShare = 20;  // a twentieth of one core: threads that only keep time use far less
  if (now - measured_ >= kEvery) {
    const Duration used = cpu_time_with_helpers(view.id.pid);
    // A helper that ended took its CPU time with it: some process was busy.
    if (!is_known(measured_) || used < used_ || (used - used_) * kBusyShare >= now - measured_) busy_ = now;
    measured_ = now;
    used_ = used;
  }
  view.busy_at = busy_;
}

}  // namespace rankfault
