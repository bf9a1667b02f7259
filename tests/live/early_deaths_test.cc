// early_deaths_test: a kill is reported without the pidfd. All other ends are left to the pidfd. The children
// hold the notice as ranks do: through the agent's own function, in the header of a flight record.
#include "harness/live/early_deaths.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <mutex>
#include <vector>

#include "harness/agent/agent_abi.h"
#include "harness/base/process_tree.h"
#include "harness/base/unique_fd.h"
#include "tests/support/tool.h"

extern "C" void rf_arm_death_notice(rf_header*);  // harness/agent/death_notice.c

namespace rankfault::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class EarlyDeathsTest : public testing::Test {
 protected:
  struct Child {
    pid_t pid = 0;
    std::string record;
    UniqueFd go;
  };

  // Holds the notice, and runs `then` after let().
  Child start(const std::function<void()>& then) {
    Child child;
    child.record = scratch_.file("record" + std::to_string(++started_));
    const UniqueFd file(::open(child.record.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(::ftruncate(file.get(), RF_HEADER_BYTES), 0);
    void* at = ::mmap(nullptr, RF_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    int ready[2], go[2];
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC) + ::pipe2(go, O_CLOEXEC), 0);
    child.pid = ::fork();
    if (child.pid == 0) {
      char byte = 0;
      rf_arm_death_notice(static_cast<rf_header*>(at));
      [[maybe_unused]] ssize_t n = ::write(ready[1], &byte, 1);
      n = ::read(go[0], &byte, 1);
      then();
      ::_exit(0);
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    for (const int fd : {ready[0], ready[1], go[0]}) ::close(fd);
    child.go.reset(go[1]);
    ::munmap(at, RF_HEADER_BYTES);
    return child;
  }
  static void wait_to_be_killed() {
    for (;;) ::pause();
  }
  void watch(const Child& child, uint64_t token) {
    ProcessId id;
    id.pid = child.pid;
    id.start = proc_stat(child.pid)->start;
    early_.add(child.record, id, token);
  }
  static void let(const Child& child) {
    const char byte = 0;
    ASSERT_EQ(::write(child.go.get(), &byte, 1), 1);
  }
  // Waits until the kernel has released the mutex of the child.
  static void wait_for_notice(const Child& child) {
    const UniqueFd file(::open(child.record.c_str(), O_RDONLY | O_CLOEXEC));
    uint32_t word = 0;
    while ((word & FUTEX_OWNER_DIED) == 0) {
      ASSERT_EQ(::pread(file.get(), &word, sizeof word, offsetof(rf_header, life)), 4);
      ::sched_yield();
    }
  }
  static void kill(const Child& child) {
    ::kill(child.pid, SIGKILL);
    wait_for_notice(child);
  }
  static void end(const Child& child) {
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
  }
  // Returns all reports about notices that came before this call: the report about one more child, killed
  // now, comes last.
  std::vector<uint64_t> reported() {
    const Child last = start(wait_to_be_killed);
    watch(last, kLast);
    kill(last);
    uint64_t rings = 0;
    while (reported_so_far().empty() || reported_so_far().back() != kLast)
      [[maybe_unused]] const ssize_t n = ::read(bell_.get(), &rings, sizeof rings);  // ctest limits the wait
    end(last);
    std::vector<uint64_t> all = reported_so_far();
    all.pop_back();
    return all;
  }
  std::vector<uint64_t> reported_so_far() {
    const std::lock_guard lock(mutex_);
    return reported_;
  }

  static constexpr uint64_t kLast = 99;
  Scratch scratch_;
  int started_ = 0;
  std::mutex mutex_;
  std::vector<uint64_t> reported_;
  UniqueFd bell_{::eventfd(0, EFD_CLOEXEC)};
  Promptness promptness_{false};
  EarlyDeaths early_{promptness_, [this](uint64_t token) {
                       const std::lock_guard lock(mutex_);
                       reported_.push_back(token);
                       const uint64_t one = 1;
                       [[maybe_unused]] const ssize_t n = ::write(bell_.get(), &one, sizeof one);
                     }};
};

TEST_F(EarlyDeathsTest, ReportsAKilledProcessBeforeItsParentHasReapedIt) {
  const Child child = start(wait_to_be_killed);
  watch(child, 1);
  kill(child);
  EXPECT_THAT(reported(), ElementsAre(1));
  end(child);
}

TEST_F(EarlyDeathsTest, ReportsASignalThatTheProcessSendsToItself) {
  const Child child = start([] {
    ::signal(SIGABRT, SIG_DFL);
    ::abort();
  });
  watch(child, 1);
  let(child);
  wait_for_notice(child);
  EXPECT_THAT(reported(), ElementsAre(1));
  end(child);
}

TEST_F(EarlyDeathsTest, DoesNotReportAnExit) {
  const Child child = start([] { ::_exit(9); });
  watch(child, 1);
  let(child);
  wait_for_notice(child);
  EXPECT_THAT(reported(), IsEmpty());
  end(child);
}

TEST_F(EarlyDeathsTest, DoesNotReportAProcessThatExecutesAnotherProgram) {
  const Child child = start([] { ::execlp("sleep", "sleep", "1000", nullptr); });
  watch(child, 1);
  let(child);
  wait_for_notice(child);
  siginfo_t info{};
  EXPECT_THAT(reported(), IsEmpty());
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT), 0);
  EXPECT_EQ(info.si_pid, 0) << "it has ended";
  end(child);
}

TEST_F(EarlyDeathsTest, DoesNotReportTheEndOfTheThreadThatHoldsTheNotice) {
  const Child child = start([] {
    std::thread(wait_to_be_killed).detach();
    ::syscall(SYS_exit, 9);
  });
  watch(child, 1);
  let(child);
  wait_for_notice(child);
  EXPECT_THAT(reported(), IsEmpty());
  EXPECT_EQ(::kill(child.pid, 0), 0);
  end(child);
}

TEST_F(EarlyDeathsTest, ARecordThatIsCutIsNotWatchedAnyMore) {
  const Child child = start(wait_to_be_killed), other = start(wait_to_be_killed);
  watch(child, 1);
  watch(other, 2);
  ASSERT_EQ(::truncate(child.record.c_str(), 0), 0);
  kill(other);
  EXPECT_THAT(reported(), ElementsAre(2));
  end(child);
  end(other);
}

TEST_F(EarlyDeathsTest, ARecordWithoutTheNoticeIsNotWatched) {
  Child child = start(wait_to_be_killed);
  const int file = ::open(child.record.c_str(), O_RDWR | O_CLOEXEC);
  const uint32_t none = 0;
  ASSERT_EQ(::pwrite(file, &none, sizeof none, offsetof(rf_header, life)), 4);
  ::close(file);
  watch(child, 1);
  ::kill(child.pid, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_THAT(reported(), IsEmpty());
  end(child);
}

TEST_F(EarlyDeathsTest, OneThatIsForgottenIsNotReported) {
  const Child child = start(wait_to_be_killed);
  watch(child, 1);
  early_.forget(1);
  kill(child);
  EXPECT_THAT(reported(), IsEmpty());
  end(child);
}

}  // namespace
}  // namespace rankfault::test
