// separate_worlds_test: processes that the launcher started as one job and that run alone.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

// Each of three processes became rank 0 of 1. They lived one after the other: a launcher starts nodes late.
Timeline alone(int processes = 3) {
  TimelineBuilder job(3);
  job.everyone(all_reduce());
  Timeline t = job.build();
  t.processes.resize(static_cast<size_t>(processes));
  for (size_t i = 0; i < t.processes.size(); ++i) {
    ProcessView& p = t.processes[i];
    p.rank = 0;
    p.world_size = 1;
    p.member = Instant{} + 1s * (i + 1);
    p.end = {EndKind::kEnded, p.member + 100ms, true, false, 0};
  }
  t.job_status = JobStatus::kAllZero;
  return t;
}

TEST(SeparateWorlds, AreFoundAlthoughAllEndedWell) {
  const Findings found = diagnose(alone());
  ASSERT_EQ(all_kinds(found), "separate_worlds");
  EXPECT_EQ(found.all[0].text,
            "3 processes are rank 0 of a job of 1 each, and the launcher was asked for 3 ranks");
  EXPECT_TRUE(found.all[0].ranks.empty());
  EXPECT_EQ(found.all[0].confidence, Confidence::kInferred);
}

TEST(SeparateWorlds, TwoThatLiveAtOnceAreOneFinding) {
  Timeline t = alone();
  for (ProcessView& p : t.processes) p.end = {};
  EXPECT_EQ(all_kinds(diagnose(t)), "separate_worlds") << "and no duplicate_rank for each pair";
}

// Near misses: one of them belongs to a larger world; the launcher was asked for one rank; one process alone.
TEST(SeparateWorlds, AreNotFoundWhereOneKnowsOfTheOthers) {
  Timeline t = alone();
  t.processes[2].world_size = 3;
  EXPECT_EQ(finding_of(diagnose(t), "separate_worlds"), nullptr);
  t = alone();
  t.world_size = 1;
  EXPECT_EQ(finding_of(diagnose(t), "separate_worlds"), nullptr);
  EXPECT_EQ(finding_of(diagnose(alone(1)), "separate_worlds"), nullptr);
}

}  // namespace
}  // namespace rankfault::testing
