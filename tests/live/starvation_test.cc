// starvation_test: how often starvation of the host is noted, and that the notes leave nothing out.
#include "harness/live/starvation.h"

#include <gtest/gtest.h>

#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

constexpr TimeNs kSecond = 1'000'000'000, kStart = 1000 * kSecond;

class StarvationLines : public testing::Test {
 protected:
  // Wakes late by a fifth of a second in each second.
  void starve(TimeNs seconds) {
    for (TimeNs i = 0; i < seconds; ++i)
      starvation_.woke(kStart + i * kSecond, kStart + i * kSecond + kSecond / 5);
  }
  std::vector<LineOf<events::Starved>> lines() {
    starvation_.finish();
    read_ = *read_journal(scratch_.file("journal"));
    return lines_of<events::Starved>(read_);
  }
  JournalLines read_;
  Scratch scratch_;
  Result<Journal> journal_ = Journal::create(scratch_.file("journal"));
  Starvation starvation_{*journal_};
};

TEST_F(StarvationLines, AreOneASecondInAShortRun) {
  starve(20);
  EXPECT_EQ(lines().size(), 20u);
}

// A late wake-up after the last line counts from its own time, not from the time of that line.
TEST_F(StarvationLines, NameTheSpanThatTheySumUp) {
  starve(1);
  const auto all = lines();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]->since, kStart);
  EXPECT_EQ(all[0]->until, kStart + kSecond / 5);
}

TEST_F(StarvationLines, AreFewInADayAndSumUpAllOfIt) {
  starve(86'400);
  const auto all = lines();
  EXPECT_LT(all.size(), 4000u);
  TimeNs late = 0, before = 0;
  for (const auto& line : all) {
    late += line->late_ns;
    EXPECT_GT(line->since.value(), before);
    before = line->since.value();
  }
  EXPECT_EQ(late, 86'400 * kSecond / 5);
}

TEST_F(StarvationLines, LeaveOutWhatIsNotLateEnough) {
  starvation_.woke(kStart, kStart + kSecond / 20);
  EXPECT_TRUE(lines().empty());
}

}  // namespace
}  // namespace rankfault::test
