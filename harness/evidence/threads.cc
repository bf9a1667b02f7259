#include "harness/evidence/threads.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "harness/base/file_text.h"
#include "harness/base/printable.h"

namespace rankfault {
namespace {

// Has the system calls in which a process waits; any other one gets its number.
std::string system_call_name(long number) {
  static const std::map<long, const char*> names{
      {SYS_read, "read"},
      {SYS_write, "write"},
      {SYS_futex, "futex"},
      {SYS_ppoll, "ppoll"},
      {SYS_epoll_pwait, "epoll_pwait"},
      {SYS_pselect6, "pselect6"},
      {SYS_nanosleep, "nanosleep"},
      {SYS_clock_nanosleep, "clock_nanosleep"},
      {SYS_recvfrom, "recvfrom"},
      {SYS_recvmsg, "recvmsg"},
      {SYS_sendto, "sendto"},
      {SYS_sendmsg, "sendmsg"},
      {SYS_connect, "connect"},
      {SYS_accept, "accept"},
      {SYS_accept4, "accept4"},
      {SYS_wait4, "wait4"},
      {SYS_waitid, "waitid"},
      {SYS_flock, "flock"},
      {SYS_fcntl, "fcntl"},
      {SYS_fsync, "fsync"},
      {SYS_fdatasync, "fdatasync"},
      {SYS_openat, "openat"},
      {SYS_ioctl, "ioctl"},
      {SYS_sched_yield, "sched_yield"},
      {SYS_restart_syscall, "restart_syscall"},
#ifdef SYS_poll
      {SYS_poll, "poll"},
      {SYS_select, "select"},
      {SYS_epoll_wait, "epoll_wait"},
      {SYS_pause, "pause"},
#endif
  };
  const auto found = names.find(number);
  return found == names.end() ? fmt::format("system call {}", number) : found->second;
}

ThreadEvidence thread_of(int pid, int tid) {
  const std::string folder = fmt::format("/proc/{}/task/{}/", pid, tid);
  ThreadEvidence t;
  t.tid = tid;
  t.name = text_of_file(folder + "comm");
  if (!t.name.empty() && t.name.back() == '\n') t.name.pop_back();
  t.name = printable(t.name);
  const std::string stat = text_of_file(folder + "stat");
  const size_t after_name = stat.rfind(')');
  if (after_name != std::string::npos && after_name + 2 < stat.size()) t.state = stat[after_name + 2];
  t.kernel = printable(text_of_file(folder + "wchan"));
  if (t.kernel == "0") t.kernel.clear();
  const std::string call = text_of_file(folder + "syscall");  // "running", or the number first
  if (!call.empty() && call[0] >= '0' && call[0] <= '9')
    t.system_call = system_call_name(std::strtol(call.c_str(), nullptr, 10));
  return t;
}

}  // namespace

std::vector<ThreadEvidence> threads_of(int pid) {
  std::vector<ThreadEvidence> threads;
  std::error_code error;
  for (std::filesystem::directory_iterator it(fmt::format("/proc/{}/task", pid), error), end;
       !error && it != end; it.increment(error))
    if (const int tid = std::atoi(it->path().filename().c_str()); tid > 0)
      threads.push_back(thread_of(pid, tid));
  std::sort(threads.begin(), threads.end(), [&](const ThreadEvidence& a, const ThreadEvidence& b) {
    return std::pair(a.tid != pid, a.tid) < std::pair(b.tid != pid, b.tid);
  });
  return threads;
}

}  // namespace rankfault
