// loads: starts and ends busy processes on the cores of a victim, and journals its wait for a core.
#include <fmt/format.h>
#include <sched.h>

#include <cstring>

#include "harness/base/process_tree.h"
#include "harness/inject/injector.h"

namespace rankfault {
namespace {

constexpr int kMostBusy = 256;
constexpr TimeNs kLookEvery = 50'000'000;

int cores_of(int pid) {
  cpu_set_t cores;
  return ::sched_getaffinity(pid, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0;
}

// Tags start at 1: tag 0 means all loads.
uint32_t tag_of(int64_t action) { return static_cast<uint32_t>(action) + 1; }

}  // namespace

Result<std::string> Injector::load(const Action& action, const ProcessId& process, int rank) {
  if (const Status ours = is_ours(process); !ours) return ours.error();
  Load load{&action, process, rank, now_ns(), now_ns(), cores_of(process.pid), RunDelay(process.pid), {}};
  if (!load.delay.known()) return refused(fmt::format("/proc/{}/schedstat does not exist", process.pid));
  if (load.cores == 0) return refused(fmt::format("the cores of pid {} are not known", process.pid));
  int64_t busy = load.cores * action.size;
  for (const Load& other : loads_) busy += other.cores * other.action->size;
  if (busy > kMostBusy)
    return refused(
        fmt::format("{} busy processes on each of {} cores are more than {}: bind the rank to fewer cores",
                    action.size, load.cores, kMostBusy));
  if (!load_) return refused("no guardian can start the busy processes");
  if (const Status asked = load_(tag_of(action.id), process.pid, static_cast<int>(action.size)); !asked)
    return asked.error();
  loads_.push_back(std::move(load));
  return fmt::format("{} busy processes on each of {} cores of pid {}", action.size, loads_.back().cores,
                     process.pid);
}

void Injector::loaded(uint32_t tag, int error) {
  for (Load& load : loads_)
    if (error && tag_of(load.action->id) == tag) load.error = std::strerror(error);
}

Result<std::string> Injector::unload(const Action& action) {
  if (const Status asked = load_(tag_of(action.after), 0, 0); !asked) return asked.error();
  std::erase_if(loads_, [&](Load& load) {
    if (static_cast<int32_t>(load.action->id) != action.after) return false;
    load.delay.look();
    load.looked = now_ns();
    journal_load(load);
    return true;
  });
  return std::string("the busy processes end");
}

void Injector::look_at_loads(TimeNs now) {
  for (Load& load : loads_) {
    const auto stat = now < load.looked + kLookEvery ? std::nullopt : proc_stat(load.process.pid);
    if (!stat || stat->start != load.process.start) continue;
    load.delay.look();
    load.looked = now;
  }
}

void Injector::journal_load(const Load& load) {
  Json line = base(*load.action, load.process, load.rank);
  line["what"] = "waited_for_a_core";
  line["waited_ns"] = load.delay.waited_ns();
  line["took_ns"] = load.looked - load.began;
  line["cores"] = load.cores;
  line["busy"] = load.error.empty() ? load.cores * load.action->size : 0;
  if (!load.error.empty()) line["error"] = load.error;
  line["time"] = load.began;
  journal_.write("fault_effect", std::move(line));
}

void Injector::finish() {
  tick();
  for (const Load& load : loads_) journal_load(load);
  loads_.clear();
}

}  // namespace rankfault
