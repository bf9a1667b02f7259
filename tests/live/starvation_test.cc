// starvation_test: how often starvation of the host is noted, and that the notes leave nothing out.
#include "harness/live/starvation.h"

#include <gtest/gtest.h>

#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

constexpr Instant kStart{1000s};

class StarvationLines : public testing::Test {
 protected:
  // Wakes late by a fifth of a second in each second.
  void starve(std::chrono::seconds lasts) {
    for (Instant wanted = kStart; wanted < kStart + lasts; wanted += 1s)
      starvation_.woke(wanted, wanted + 200ms);
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
  starve(20s);
  EXPECT_EQ(lines().size(), 20u);
}

// A late wake-up after the last line counts from its own time, not from the time of that line.
TEST_F(StarvationLines, NameTheSpanThatTheySumUp) {
  starve(1s);
  const auto all = lines();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]->since, kStart);
  EXPECT_EQ(all[0]->until, kStart + 200ms);
}

TEST_F(StarvationLines, AreFewInADayAndSumUpAllOfIt) {
  starve(24h);
  const auto all = lines();
  EXPECT_LT(all.size(), 4000u);
  Duration late{};
  Instant before;
  for (const auto& line : all) {
    late += line->late_ns;
    EXPECT_GT(line->since.value(), before);
    before = line->since.value();
  }
  EXPECT_EQ(late, 86'400 * 200ms);
}

TEST_F(StarvationLines, LeaveOutWhatIsNotLateEnough) {
  starvation_.woke(kStart, kStart + 50ms);
  EXPECT_TRUE(lines().empty());
}

}  // namespace
}  // namespace rankfault::test
