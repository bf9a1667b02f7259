// foremost_test: the thread that watches comes first, for as long as it watches.
#include "harness/live/foremost.h"

#include <gtest/gtest.h>

namespace rankfault::test {
namespace {

int own_nice() { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())); }

TEST(Foremost, LastsAsLongAsItLives) {
  const int before = own_nice();
  if (::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), before - 1) != 0)
    GTEST_SKIP() << "no right to raise a priority here";
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), before);
  {
    const Foremost foremost;
    EXPECT_LT(own_nice(), before);
  }
  EXPECT_EQ(own_nice(), before);
}

}  // namespace
}  // namespace rankfault::test
