// subject_processes: behaviours about fork, vfork, exec and ends.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/agent/fake/fake.h"
#include "tests/agent/subject.h"

namespace {
int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
int reduce_once() {
  char in[4] = "abc", out[4];
  return fake_all_reduce(in, out, sizeof(in));
}
}  // namespace

// The child makes calls (and gets its own record), then the parent continues.
BEHAVIOUR(fork_that_calls) {
  fake_init(0, 4);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 5; ++i) reduce_once();
    std::exit(5);
  }
  if (status_of(child) != 5) return 1;
  return reduce_once();
}

// The child makes no call: it has no record, and its exit does not count as its parent's.
BEHAVIOUR(fork_that_does_not_call) {
  fake_init(0, 4);
  const pid_t child = fork();
  if (child == 0) std::exit(6);
  if (status_of(child) != 6) return 1;
  std::puts("parent goes on");
  std::fflush(stdout);
  return 3;
}

// vfork, an exec that fails, _exit in the child.
BEHAVIOUR(vfork_that_fails) {
  fake_init(0, 4);
  const pid_t child = vfork();
  if (child == 0) {
    execl("/nonexistent/program", "program", static_cast<char*>(nullptr));
    _exit(127);
  }
  if (status_of(child) != 127) return 1;
  if (args[0]) raise(9);
  return 4;
}

BEHAVIOUR(exec_itself) {
  fake_init(0, 4);
  const int left = std::atoi(args[0]);
  if (left == 0) return 0;
  const std::string less = std::to_string(left - 1);
  execl("/proc/self/exe", "subject", "exec_itself", less.c_str(), static_cast<char*>(nullptr));
  return 92;
}

BEHAVIOUR(ends) {
  fake_init(0, 4);
  const std::string how = args[0];
  if (how == "return") return 11;
  if (how == "exit") std::exit(12);
  if (how == "_exit") _exit(13);
  if (how == "_Exit") std::_Exit(14);
  if (how == "quick_exit") std::quick_exit(15);
  if (how == "abort") std::abort();
  return 93;
}
