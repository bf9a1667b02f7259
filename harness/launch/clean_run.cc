// clean_run.cc: see clean_run.h.
#include "harness/launch/clean_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "harness/base/process_tree.h"
#include "harness/base/rank_end.h"
#include "harness/launch/gather.h"
#include "harness/launch/guardian.h"
#include "harness/launch/guardian/census.h"
#include "harness/launch/guardian/undo.h"
#include "harness/run_dir/run_dir.h"

namespace rankfault {
namespace {

constexpr Duration kGuardianLimit = 60s, kKillLimit = 30s;

struct DeadRun {
  std::string path, tmp;
  uint64_t tmp_dev = 0, tmp_ino = 0;
  int64_t began_realtime_ns = 0;
  uint64_t began_ticks = 0;  // in the units of field 22 of /proc/PID/stat
  bool same_boot = false, watch = false;
};

void pause_ms(int ms) { ::poll(nullptr, 0, ms); }

Duration time_slept() {
  timespec boot{};
  ::clock_gettime(CLOCK_BOOTTIME, &boot);
  return std::chrono::seconds(boot.tv_sec) + std::chrono::nanoseconds(boot.tv_nsec) -
         HostClock::now().time_since_epoch();
}

// If the state file is missing (killed while it was made), nothing is known about the run.
DeadRun read_dead_run(const std::string& path) {
  DeadRun run;
  run.path = path;
  const Result<Json> state = read_json(path + "/state.json");
  if (!state.ok() || !state->is_object()) return run;
  run.tmp = state->value("tmp", "");
  run.tmp_dev = state->value("tmp_dev", uint64_t{0});
  run.tmp_ino = state->value("tmp_ino", uint64_t{0});
  run.began_realtime_ns = state->value("began_realtime_ns", int64_t{0});
  run.watch = state->value("kind", "") == to_text(RunKind::kWatch);
  run.same_boot = state->value("boot", "") == boot_id();
  const Duration began = state->value("began_ns", Instant{}).time_since_epoch() + time_slept();
  run.began_ticks = static_cast<uint64_t>(began / (Duration(1s) / ::sysconf(_SC_CLK_TCK)));
  return run;
}

bool names_run(int pid, const std::string& path) {
  const std::string text = read_text(fmt::format("/proc/{}/environ", pid));
  for (const std::string name : {"RANKFAULT_JOB=", "RANKFAULT_RUN_DIR="}) {
    const std::string entry = name + path + std::string(1, 0);
    if (text.rfind(entry, 0) == 0 || text.find(std::string(1, 0) + entry) != std::string::npos) return true;
  }
  return false;
}

std::map<int, ProcStat> processes_of(const DeadRun& run) {
  std::map<int, ProcStat> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    const auto stat = pid > 0 && pid != ::getpid() ? proc_stat(pid) : std::nullopt;
    if (!stat || stat->start + 1 < run.began_ticks || stat->state == 'Z' || !names_run(pid, run.path))
      continue;
    found[pid] = *stat;
    for (const int child : descendants_of(pid))
      if (const auto below = proc_stat(child); below && below->state != 'Z' && child != ::getpid())
        found[child] = *below;
  }
  return found;
}

void signal_each(const std::map<int, ProcStat>& processes, int signal) {
  for (const auto& [pid, stat] : processes)
    if (Result<UniqueFd> process = open_process(pid, stat.start); process.ok())
      ::syscall(SYS_pidfd_send_signal, process->get(), signal, nullptr, 0);
}

// Takes the census that the guardian would have taken: it may have died before.
void take_census(const DeadRun& run, const std::map<int, ProcStat>& processes) {
  UniqueFd undo(::open((run.path + "/undo").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  rf_census census;
  rf_census_begin(&census, 0, undo.get(), run.path.c_str(), run.tmp.c_str());
  rf_census_began(&census, run.began_realtime_ns);
  census.watch = run.watch;
  std::vector<rf_proc> list;
  for (const auto& [pid, stat] : processes) {
    list.push_back({pid, stat.parent, stat.state, stat.start});
    const std::string words =
        read_text(fmt::format("/proc/{}/cmdline", pid)) + read_text(fmt::format("/proc/{}/environ", pid));
    for (size_t at = 0; at < words.size(); at = words.find('\0', at) + 1) {
      rf_census_named(&census, words.c_str() + at);
      if (words.find('\0', at) == std::string::npos) break;
    }
  }
  rf_census_take_of(&census, list.data(), list.size());
  rf_census_end(&census);
}

// Stops all, looks at what they hold, kills; repeats until none is left.
void end_processes(const DeadRun& run, CleanReport& report) {
  std::map<int, ProcStat> left;
  for (const Instant deadline = HostClock::now() + kKillLimit; HostClock::now() < deadline;) {
    left = processes_of(run);
    if (left.empty()) return;
    signal_each(left, SIGSTOP);
    pause_ms(5);
    take_census(run, left);
    signal_each(left, SIGKILL);
    report.ended += static_cast<int>(left.size());
    for (int waits = 0; waits < 200; ++waits) {
      std::erase_if(left, [](const auto& entry) {
        const auto now = proc_stat(entry.first);
        return !now || now->start != entry.second.start || now->state == 'Z';
      });
      if (left.empty()) break;
      pause_ms(5);
    }
  }
  for (const auto& [pid, stat] : left) report.failed.push_back(fmt::format("process {} does not end", pid));
}

void undo_all(const DeadRun& run, CleanReport& report) {
  // The tool was killed after making the directory and before recording its inode: it can only be empty.
  if (run.tmp_ino == 0 && is_tmp_name(run.tmp))
    if (::rmdir(run.tmp.c_str()) == 0) ++report.undone;
  const std::string undo = run.path + "/undo";
  rf_undo_run what{};
  what.undo_path = undo.c_str();
  what.run_dir = run.path.c_str();
  what.tmp_dir = run.tmp.c_str();
  what.tmp_dev = run.tmp_dev;
  what.tmp_ino = run.tmp_ino;
  what.only_dirs = !run.same_boot;
  what.watch = run.watch;
  rf_undo_result result;
  rf_undo(&what, &result);
  report.undone += result.undone;
  Undone undone = read_undone(result.lines ? result.lines : "");
  std::free(result.lines);
  report.failed.insert(report.failed.end(), undone.failed.begin(), undone.failed.end());
  report.left = std::move(undone.left);
}

Status wait_for_guardian(const std::string& path) {
  UniqueFd lock(::open((path + "/guardian.lock").c_str(), O_RDWR | O_CLOEXEC));
  if (!lock.valid()) return Done{};  // it never started
  for (const Instant deadline = HostClock::now() + kGuardianLimit; HostClock::now() < deadline; pause_ms(20))
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return Done{};
  return refused(path + ": its guardian is still running");
}

}  // namespace

Result<CleanReport> clean_run(const std::string& run_dir) {
  std::error_code error;
  const std::string path = std::filesystem::canonical(run_dir, error).string();
  if (error) return usage_error(fmt::format("{}: {}", run_dir, error.message()));
  UniqueFd lock(::open((path + "/lock").c_str(), O_RDWR | O_CLOEXEC));
  if (!lock.valid()) return usage_error(path + " is not a run directory of rankfault");
  CleanReport report;
  if (run_state(path) == RunState::kComplete) return report;
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return usage_error(path + " is a run in progress; rankfault does not clean it");
  if (Status over = wait_for_guardian(path); !over.ok()) return over.error();
  const DeadRun run = read_dead_run(path);
  if (run.same_boot) end_processes(run, report);
  undo_all(run, report);
  return report;
}

}  // namespace rankfault
