// limits_test: the kernel itself refuses a process more than the limit that was set from outside, until it is
// restored.
#include "harness/inject/limits.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>

namespace rankfault::test {
namespace {

// A child that tries once for each byte that it gets, and answers with errno; 0: no error.
class Trier {
 public:
  explicit Trier(const std::function<bool()>& tried) {
    int asks[2], answers[2];
    EXPECT_EQ(::pipe(asks), 0);
    EXPECT_EQ(::pipe(answers), 0);
    pid = ::fork();
    if (pid == 0) {
      char x;
      while (::read(asks[0], &x, 1) == 1) {
        const char error = tried() ? 0 : static_cast<char>(errno);
        if (::write(answers[1], &error, 1) != 1) break;
      }
      ::_exit(0);
    }
    ::close(asks[0]);
    ::close(answers[1]);
    ask_ = asks[1];
    answer_ = answers[0];
  }
  ~Trier() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    ::close(ask_);
    ::close(answer_);
  }
  int try_now() const {
    char error = -1;
    EXPECT_EQ(::write(ask_, "x", 1), 1);
    EXPECT_EQ(::read(answer_, &error, 1), 1);
    return error;
  }
  int pid = 0;

 private:
  int ask_ = -1, answer_ = -1;
};

constexpr size_t kMiB = 1 << 20;

bool takes_a_descriptor() { return ::dup(0) >= 0; }
bool takes_memory() {
  return ::mmap(nullptr, kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

TEST(Limits, ExactlyTheSpareDescriptorsAreLeft) {
  const Trier victim([] {
    static const int hole = ::dup2(0, 200);  // the limit is on the number, which need not be the highest
    return hole == 200 && takes_a_descriptor();
  });
  EXPECT_EQ(victim.try_now(), 0);
  const Result<SetLimit> set = limit_to_use(victim.pid, RLIMIT_NOFILE, 2);
  ASSERT_TRUE(set.ok()) << set.error().to_string();
  EXPECT_LT(set->limit, 200u);
  EXPECT_EQ(victim.try_now(), 0);
  EXPECT_EQ(victim.try_now(), 0);
  EXPECT_EQ(victim.try_now(), EMFILE);
  ASSERT_TRUE(restore_limit(victim.pid, RLIMIT_NOFILE, *set).ok());
  EXPECT_EQ(victim.try_now(), 0);
}

TEST(Limits, MemoryIsRefusedBeyondTheSpare) {
  const Trier victim(takes_memory);
  EXPECT_EQ(victim.try_now(), 0);
  const Result<SetLimit> set = limit_to_use(victim.pid, RLIMIT_DATA, 2 * kMiB);
  ASSERT_TRUE(set.ok()) << set.error().to_string();
  EXPECT_EQ(set->limit, set->in_use + 2 * kMiB);
  EXPECT_EQ(victim.try_now(), 0);
  EXPECT_EQ(victim.try_now(), 0);
  EXPECT_EQ(victim.try_now(), ENOMEM);
  ASSERT_TRUE(restore_limit(victim.pid, RLIMIT_DATA, *set).ok());
  EXPECT_EQ(victim.try_now(), 0);
}

TEST(Limits, OneThatIsLowerAlreadyIsNotRaised) {
  const Trier victim(takes_a_descriptor);
  const Result<SetLimit> low = limit_to_use(victim.pid, RLIMIT_NOFILE, 0);
  ASSERT_TRUE(low.ok());
  const Result<SetLimit> higher = limit_to_use(victim.pid, RLIMIT_NOFILE, 10);
  ASSERT_FALSE(higher.ok());
  EXPECT_THAT(higher.error().to_string(), testing::HasSubstr("already"));
  EXPECT_EQ(victim.try_now(), EMFILE);
}

TEST(Limits, WhatTheProgramHasSetMeanwhileStays) {
  const Trier victim(takes_a_descriptor);
  const Result<SetLimit> set = limit_to_use(victim.pid, RLIMIT_NOFILE, 0);
  ASSERT_TRUE(set.ok());
  rlimit own{set->limit + 1, set->before};
  ASSERT_EQ(::prlimit(victim.pid, RLIMIT_NOFILE, &own, nullptr), 0);
  EXPECT_FALSE(restore_limit(victim.pid, RLIMIT_NOFILE, *set).ok());
}

TEST(Limits, OfNobodyCannotBeSet) {
  EXPECT_FALSE(limit_to_use(0x3fffff, RLIMIT_NOFILE, 0).ok());
  EXPECT_FALSE(limit_to_use(0x3fffff, RLIMIT_DATA, 0).ok());
}

}  // namespace
}  // namespace rankfault::test
