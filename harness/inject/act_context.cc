#include "harness/inject/act_context.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/base/process_tree.h"
#include "harness/base/unique_fd.h"
#include "harness/scenario/params.h"

namespace rankfault {

int ActRun::attempt_of(const ProcessId& process) const {
  const auto told = attempts.find(process);
  return told != attempts.end() ? told->second : attempt;
}

void ActRun::fill(events::FaultLine& line, const Action& action, const ProcessId& process, int rank) const {
  line.fault = action.fault;
  line.action = action.id;
  line.process = process;
  line.rank = rank;
  line.attempt = attempt_of(process);
}

void ActContext::intend(const std::string& what) const {
  auto line = run->line<events::FaultIntent>(*action, process, rank);
  line.what = what;
  run->journal.write(line);
}

void ActContext::effect(const std::string& what, events::FaultEffect more, Instant when) const {
  run->fill(more, *action, process, rank);
  more.what = what;
  more.time = when;
  run->journal.write(more);
}

void ActContext::file_effect(const std::string& what, const std::string& path,
                             events::FaultEffect more) const {
  more.fault = action->fault;
  more.action = action->id;
  more.what = what;
  more.path = path;
  more.time = HostClock::now();
  run->journal.write(more);
}

Status ActContext::is_ours(const ProcessId& other) const {
  const auto stat = proc_stat(other.pid);
  if (!stat || stat->start != other.start)
    return refused(fmt::format("pid {} is another process now", other.pid));
  if (!descendants_of(run->guardian_pid).count(other.pid))
    return refused(fmt::format("pid {} does not descend from this run's guardian", other.pid));
  return Done{};
}

// Signals through a pidfd, and compares the start time after the pidfd is open: never signals a reused pid.
Result<std::string> ActContext::send_signal(const ProcessId& to, int signal) const {
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, to.pid, 0)));
  if (!pidfd.valid()) return errno_error(fmt::format("pidfd_open {}", to.pid));
  if (const Status ours = is_ours(to); !ours) return ours.error();
  if (signal == SIGSTOP) {
    if (const Status noted = run->undo.continue_process(to.pid, to.start); !noted) return noted.error();
  }
  if (::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) != 0)
    return errno_error(fmt::format("signal {} to pid {}", signal, to.pid));
  return fmt::format("{} sent to pid {}", signal_name(signal), to.pid);
}

Result<std::string> ActContext::send_last_signal(const ProcessId& to, int signal) const {
  Result<std::string> sent = send_signal(to, signal);
  if (sent) run->signals[to] = {signal, HostClock::now()};
  return sent;
}

}  // namespace rankfault
