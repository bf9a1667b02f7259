// rank_end.cc: see rank_end.h. The only place that decodes a wait status.
#include "harness/base/rank_end.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <memory>

#include "harness/agent/agent_abi.h"
#include "harness/base/process_tree.h"

namespace rankfault {
namespace {

// <linux/pidfd.h> of Linux 6.15; Debian 12's headers lack it.
struct PidfdInfo {
  uint64_t mask, cgroup;
  uint32_t pid, tgid, ppid, ids[8];
  int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64, "PIDFD_INFO_SIZE_VER0");
constexpr uint64_t kPidfdInfoExit = 1u << 3;

bool same(const ExitStatus& a, const ExitStatus& b) { return a.kind == b.kind && a.value == b.value; }

bool is_signal(const ExitStatus& status) { return status.kind == ExitStatus::Kind::kSignal; }

bool stops(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

}  // namespace

std::string ExitStatus::to_string() const {
  if (kind == Kind::kUnknown) return "status unknown";
  if (kind == Kind::kCode) return fmt::format("exit {}", value);
  const char* name = ::sigabbrev_np(value);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", value);
}

ExitStatus ExitStatus::from_wait_status(int status) {
  if (WIFEXITED(status)) return {Kind::kCode, WEXITSTATUS(status)};
  if (WIFSIGNALED(status)) return {Kind::kSignal, WTERMSIG(status)};
  return {};
}

const char* to_text(EndSource source) {
  switch (source) {
    case EndSource::kWaited:
      return "waited";
    case EndSource::kKernel:
      return "kernel";
    case EndSource::kOwnRecord:
      return "own_record";
    case EndSource::kOurSignal:
      return "our_signal";
    case EndSource::kLauncher:
      return "launcher";
    case EndSource::kUnknown:
      break;
  }
  return "unknown";
}

BestEnd best_of(const EndSources& sources) {
  if (sources.waited) return {*sources.waited, EndSource::kWaited};
  if (sources.kernel) return {*sources.kernel, EndSource::kKernel};
  // A signal that can be caught need not have ended the process.
  const bool caught = sources.our_signal && sources.our_signal->value != SIGKILL && sources.own_record;
  if (sources.our_signal && !caught) return {*sources.our_signal, EndSource::kOurSignal};
  const bool overtaken = sources.launcher && is_signal(*sources.launcher);
  if (sources.own_record && !overtaken) return {*sources.own_record, EndSource::kOwnRecord};
  if (sources.launcher) return {*sources.launcher, EndSource::kLauncher};
  return {};
}

bool contradict(const EndSources& sources) {
  const BestEnd best = best_of(sources);
  for (const auto& said : {sources.waited, sources.kernel, sources.launcher})
    if (said && !same(*said, best.status)) return true;
  // The process had begun to exit when a signal came: both are true.
  if (sources.own_record && !same(*sources.own_record, best.status) && !is_signal(best.status)) return true;
  return sources.our_signal && sources.our_signal->value == SIGKILL &&
         !same(*sources.our_signal, best.status);
}

Result<UniqueFd> open_process(int pid, uint64_t start) {
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd.valid()) return errno_error("open process " + std::to_string(pid));
  const auto stat = proc_stat(pid);  // after the open: the pid can no longer pass to another process
  if (!stat || stat->start != start) return refused("process " + std::to_string(pid) + " is gone");
  return fd;
}

std::optional<ExitStatus> kernel_exit_status(int pidfd) {
  const char* off = std::getenv("RANKFAULT_NO_PIDFD_INFO");
  if (off && *off && *off != '0') return std::nullopt;
  PidfdInfo info{};
  info.mask = kPidfdInfoExit;
  if (::ioctl(pidfd, _IOWR(0xFF, 11, PidfdInfo), &info) != 0 || !(info.mask & kPidfdInfoExit))
    return std::nullopt;
  return ExitStatus::from_wait_status(info.exit_code);
}

// For a stopped process the kernel gives the stop signal as the code (fs/proc/array.c), also when its first
// thread has ended and looks like a zombie.
std::optional<ExitStatus> unreaped_exit_status(int pid, uint64_t start) {
  const auto stat = proc_stat(pid);
  if (!stat || stat->start != start) return std::nullopt;
  const ExitStatus status = ExitStatus::from_wait_status(stat->exit_code);
  if (is_signal(status) && stops(status.value)) return std::nullopt;
  const bool killed = stat->dying && is_signal(status);
  return killed || stat->state == 'Z' ? std::optional(status) : std::nullopt;
}

std::optional<OwnExit> own_exit(const std::string& ring_path) {
  UniqueFd fd(::open(ring_path.c_str(), O_RDONLY | O_CLOEXEC));
  rf_header header;
  if (!fd.valid() || ::pread(fd.get(), &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header))
    return std::nullopt;
  if (header.magic != RF_RING_MAGIC || header.abi_version != RF_ABI_VERSION ||
      header.own_exit == RF_NOT_EXITED)
    return std::nullopt;
  return OwnExit{{ExitStatus::Kind::kCode, header.own_exit_status & 0xff}, instant_of(header.own_exit_ns)};
}

}  // namespace rankfault
