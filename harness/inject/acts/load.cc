// load, unload: `size` busy processes on each core that the victim may use; unload ends them, `delay` later.
// The victim's wait for a core is journaled when the load ends.
#include <fmt/format.h>
#include <sched.h>

#include <cstring>

#include "harness/base/process_tree.h"
#include "harness/inject/act_context.h"
#include "harness/inject/run_delay.h"

namespace rankfault {
namespace {

constexpr int kMostBusy = 256;
constexpr Duration kLookEvery = 50ms;

int cores_of(int pid) {
  cpu_set_t cores;
  return ::sched_getaffinity(pid, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0;
}

// Tags start at 1: tag 0 means all loads.
uint32_t tag_of(int64_t action) { return static_cast<uint32_t>(action) + 1; }

struct Load {  // busy processes on a victim's cores
  ActContext act;
  Instant began, looked;
  int cores = 0;
  RunDelay delay;

  int64_t busy() const { return cores * act.action->size; }
  void look(Instant now) {
    delay.look();
    looked = now;
  }
  void journal() const;
};

void Load::journal() const {
  const int error = act.run->load_answers[tag_of(act.action->id)];
  events::FaultEffect more;
  more.waited_ns = delay.waited();
  more.took_ns = looked - began;
  more.cores = cores;
  more.busy = error ? 0 : busy();
  if (error) more.error = std::strerror(error);
  act.effect("waited_for_a_core", more, began);
}

struct Loads : ActState {
  std::vector<Load> all;

  void tick(Instant now) override {
    for (Load& load : all) {
      const auto stat = now < load.looked + kLookEvery ? std::nullopt : proc_stat(load.act.process.pid);
      if (stat && stat->start == load.act.process.start) load.look(now);
    }
  }
  void process_ended(const ProcessId& process) override {
    std::erase_if(all, [&](const Load& load) {
      if (!is_same_process(load.act.process, process)) return false;
      load.journal();
      return true;
    });
  }
  void finish() override {
    for (const Load& load : all) load.journal();
    all.clear();
  }
};

std::string load_words(const Action& action) {
  return fmt::format("{} busy processes on each core it may use", action.size);
}

std::string unload_words(const Action& action) {
  return fmt::format("they end {} later", to_text(action.delay));
}

Status can_load(const Load& load, const std::vector<Load>& others) {
  const int pid = load.act.process.pid;
  if (!load.delay.known()) return refused(fmt::format("/proc/{}/schedstat does not exist", pid));
  if (load.cores == 0) return refused(fmt::format("the cores of pid {} are not known", pid));
  int64_t busy = load.busy();
  for (const Load& other : others) busy += other.busy();
  if (busy > kMostBusy)
    return refused(
        fmt::format("{} busy processes on each of {} cores are more than {}: bind the rank to fewer cores",
                    load.act.action->size, load.cores, kMostBusy));
  if (!load.act.run->load) return refused("no guardian can start the busy processes");
  return Done{};
}

Result<std::string> load(ActContext& act) {
  const int pid = act.process.pid, per_core = static_cast<int>(act.action->size);
  act.intend(fmt::format("{} busy processes on each core of pid {}", per_core, pid));
  if (const Status ours = act.is_ours(act.process); !ours) return ours.error();
  std::vector<Load>& loads = act.run->state<Loads>().all;
  Load fresh{act, HostClock::now(), HostClock::now(), cores_of(pid), RunDelay(pid)};
  if (const Status can = can_load(fresh, loads); !can) return can.error();
  if (const Status asked = act.run->load(tag_of(act.action->id), pid, per_core); !asked) return asked.error();
  loads.push_back(std::move(fresh));
  return fmt::format("{} busy processes on each of {} cores of pid {}", per_core, loads.back().cores, pid);
}

Result<std::string> unload(ActContext& act) {
  const int32_t loaded = act.action->after;
  if (const Status asked = act.run->load(tag_of(loaded), 0, 0); !asked) return asked.error();
  std::erase_if(act.run->state<Loads>().all, [&](Load& load) {
    if (static_cast<int32_t>(load.act.action->id) != loaded) return false;
    load.look(HostClock::now());
    load.journal();
    return true;
  });
  return std::string("the busy processes end");
}

const Registration<ExternalAct> kLoad{{
    .name = kLoadAct,
    .words = load_words,
    .perform = load,
}};

const Registration<ExternalAct> kUnload{{
    .name = "unload",
    .when = ActTime::kLater,
    .words = unload_words,
    .perform = unload,
}};

}  // namespace
}  // namespace rankfault
