// rank_children_test: a helper of the victim is found by its name and age, and its end is not guessed.
#include "harness/inject/rank_children.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace rankfault::test {
namespace {

// A child of this test with this name. It has the name when the constructor returns.
class Helper {
 public:
  explicit Helper(const char* name, int exits_with = -1) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_NAME, name);
      (void)!::write(ready[1], "x", 1);
      if (exits_with >= 0) ::_exit(exits_with);
      for (;;) ::pause();
    }
    char x;
    EXPECT_EQ(::read(ready[0], &x, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
    start = proc_stat(pid)->start;
  }
  ~Helper() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  void wait_unreaped() const {
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  }
  int pid = 0;
  uint64_t start = 0;
};

TEST(Helpers, AreFoundByNameOldestFirst) {
  const Helper other("logger"), first("pt_data_worker"), second("pt_data_worker");
  const std::vector<ProcStat> found = helpers_of(::getpid(), "pt_data*");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].pid, first.pid);
  EXPECT_EQ(found[1].pid, second.pid);
  EXPECT_EQ(helpers_of(::getpid(), "*").size(), 3u);
  EXPECT_TRUE(helpers_of(first.pid, "*").empty());  // not the helper of another process
}

TEST(Helpers, OneThatHasEndedIsNone) {
  const Helper ended("loader", 0);
  ended.wait_unreaped();
  EXPECT_TRUE(helpers_of(::getpid(), "*").empty());
}

TEST(Helpers, TheEndIsTheSignalsOnlyIfTheKernelSaysSo) {
  Helper killed("a"), left("b", 3);
  EXPECT_EQ(end_of_helper(killed.pid, killed.start, SIGKILL), HelperEnd::kLives);
  ::kill(killed.pid, SIGKILL);
  killed.wait_unreaped();
  left.wait_unreaped();
  EXPECT_EQ(end_of_helper(killed.pid, killed.start, SIGKILL), HelperEnd::kBySignal);
  EXPECT_EQ(end_of_helper(killed.pid, killed.start, SIGTERM), HelperEnd::kOtherwise);
  EXPECT_EQ(end_of_helper(left.pid, left.start, SIGKILL), HelperEnd::kOtherwise);
  ::waitpid(killed.pid, nullptr, 0);
  EXPECT_EQ(end_of_helper(killed.pid, killed.start, SIGTERM), HelperEnd::kUnseen);
}

}  // namespace
}  // namespace rankfault::test
