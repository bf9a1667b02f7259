// child_on_a_core: children of a test that all share one core.
#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace rankfault::test {

// Kills the child when it goes out of scope.
class ChildOnACore {
 public:
  explicit ChildOnACore(const std::function<void()>& does) {
    pid = ::fork();
    if (pid == 0) {
      cpu_set_t cores, first;
      ::sched_getaffinity(0, sizeof cores, &cores);
      CPU_ZERO(&first);
      for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++core)
        if (CPU_ISSET(core, &cores)) CPU_SET(core, &first);
      ::sched_setaffinity(0, sizeof first, &first);
      does();
      ::_exit(0);
    }
  }
  ~ChildOnACore() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  int pid = 0;
};

inline void be_busy() {
  for (volatile bool on = true; on;) {
  }
}
inline void sleep_on() {
  for (;;) ::pause();
}

}  // namespace rankfault::test
