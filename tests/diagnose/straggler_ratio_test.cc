// straggler_ratio_test: the finding about a slow rank says how much longer than the others it takes.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Ranks 0 and 1 take `others` before each call, rank 2 takes `slow`. Then the others wait for rank 2.
TimelineBuilder steps_of(int steps, Duration others, Duration slow) {
  TimelineBuilder job(3);
  job.everyone(all_reduce());
  for (int i = 0; i < steps; ++i) {
    job.wait(others).blocked(0, all_reduce()).blocked(1, all_reduce());
    job.wait(slow - others).blocked(2, all_reduce());
    job.returns(0).returns(1).returns(2);
  }
  job.blocked(0, all_reduce()).blocked(1, all_reduce()).wait(60s);
  return job;
}

std::string text_of(const TimelineBuilder& job) {
  const Findings found = diagnose(job.build());
  const Finding* slow = finding_of(found, "slow_rank");
  EXPECT_NE(slow, nullptr) << all_kinds(found);
  return slow ? slow->text : "";
}

TEST(Pace, TellsHowMuchLongerASlowRankTakes) {
  EXPECT_THAT(text_of(steps_of(8, 100ms, 250ms)),
              HasSubstr("; before their last 9 calls there, it took 2.5 times as long as the others"));
  EXPECT_THAT(text_of(steps_of(30, 100ms, 250ms)), HasSubstr("their last 20 calls there, it took 2.5"));
}

TEST(Pace, SaysNothingOfARankThatWasAsFastAsTheOthers) {
  EXPECT_THAT(text_of(steps_of(8, 100ms, 100ms)), Not(HasSubstr("times as long")));
}

TEST(Pace, SaysNothingFromAFewCalls) {
  EXPECT_THAT(text_of(steps_of(3, 100ms, 250ms)), Not(HasSubstr("times as long")));
}

}  // namespace
}  // namespace rankfault::testing
