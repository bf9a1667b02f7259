// read_environment_test: the environment that a process got at its exec; a process that has ended gives none.
#include "harness/live/read_environment.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rankfault {
namespace {

TEST(ReadEnvironment, OfAnotherProcessAsItsExecGaveIt) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], 1);
    const char* const argv[] = {"sh", "-c", "B=other; echo; kill -STOP $$", nullptr};
    const char* const env[] = {"A=one", "AB=two", "B=x=y", "API_KEY=XYZ", "PATH=/usr/bin:/bin", nullptr};
    execve("/bin/sh", const_cast<char**>(argv), const_cast<char**>(env));
    _exit(127);
  }
  char started = 0;
  ASSERT_EQ(read(pipe_ends[0], &started, 1), 1);
  EXPECT_EQ(read_environment(child, {"A", "B", "C"}), (Json{{"A", "one"}, {"B", "x=y"}}));
  const Json secret = read_environment(child, {"API_KEY"});
  EXPECT_EQ(secret.dump().find("XYZ"), std::string::npos) << secret.dump();
  kill(child, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(read_environment(child, {"A"}).is_null()) << "it has ended, and is not reaped";
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(read_environment(child, {"A"}).is_null());
}

}  // namespace
}  // namespace rankfault
