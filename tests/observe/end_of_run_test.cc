// end_of_run_test: what the files of a finished run say about its end.
#include "harness/observe/observer.h"
#include "tests/observe/run_files.h"

namespace rankfault::testing {
namespace {

class EndOfRun : public RunFiles {};

TEST_F(EndOfRun, IsReadFromItsFiles) {
  auto a = ring(0), b = ring(1);
  a->enter(0, RF_OP_BARRIER);
  journal({{{"n", 1}, {"t", 10}, {"ev", "run_begin"}, {"world_size", 2}},
           {{"n", 2}, {"t", 11}, {"ev", "attempt_begin"}, {"attempt", 0}},
           {{"n", 3}, {"t", 12}, {"ev", "spawned"}, {"rank", 0}, {"attempt", 0}},
           {{"n", 4},
            {"t", 20},
            {"ev", "rank_end"},
            {"process", process(1).to_string()},
            {"rank", 1},
            {"attempt", 0},
            {"time", 19},
            {"kind", "exit"},
            {"value", 3}}});
  const auto t = final_timeline(run_);
  ASSERT_TRUE(t.ok()) << t.error().message;
  EXPECT_EQ(t->begin, instant_of(10));
  ASSERT_EQ(t->processes.size(), 2u);
  EXPECT_EQ(t->processes[0].end.kind, EndKind::kAlive);
  EXPECT_EQ(t->processes[1].end.value, 3);
  EXPECT_FALSE(t->job_over);
  EXPECT_FALSE(t->launcher_ends_all);
  EXPECT_FALSE(final_timeline(run_ + "/none").ok());
}

// One program starts the ranks. Its command line decides whether it leaves the others alone.
TEST_F(EndOfRun, TellsWhetherTheLauncherEndsAll) {
  auto a = ring(0);
  for (const bool ends_all : {true, false}) {
    journal({{{"n", 1}, {"t", 10}, {"ev", "run_begin"}, {"world_size", 1}},
             {{"n", 2}, {"t", 11}, {"ev", "attempt_begin"}, {"attempt", 0}},
             {{"n", 3}, {"t", 12}, {"ev", "spawned"}, {"rank", -1}, {"attempt", 0}, {"ends_all", ends_all}}});
    const auto t = final_timeline(run_);
    ASSERT_TRUE(t.ok()) << t.error().message;
    EXPECT_EQ(t->launcher_ends_all, ends_all);
    EXPECT_EQ(t->job_status, JobStatus::kRunning);
  }
}

// If there is a launcher, its status is the job's, else the statuses of the ranks.
TEST_F(EndOfRun, TellsHowTheJobEnded) {
  auto a = ring(0);
  const auto end_of_job = [&](int spawned_rank, int launcher) {
    journal({{{"n", 1}, {"t", 10}, {"ev", "run_begin"}, {"world_size", 1}},
             {{"n", 2}, {"t", 11}, {"ev", "attempt_begin"}, {"attempt", 0}},
             {{"n", 3}, {"t", 12}, {"ev", "spawned"}, {"rank", spawned_rank}, {"attempt", 0}},
             {{"n", 4},
              {"t", 13},
              {"ev", "rank_end"},
              {"rank", 0},
              {"attempt", 0},
              {"time", 13},
              {"kind", "exit"},
              {"value", 1}},
             {{"n", 5},
              {"t", 14},
              {"ev", "launcher_end"},
              {"attempt", 0},
              {"pid", 7},
              {"kind", "exit"},
              {"value", launcher}}});
    return final_timeline(run_)->job_status;
  };
  EXPECT_EQ(end_of_job(-1, 0), JobStatus::kAllZero);
  EXPECT_EQ(end_of_job(-1, 1), JobStatus::kNotAllZero);
  EXPECT_EQ(end_of_job(0, 0), JobStatus::kNotAllZero);
}

}  // namespace
}  // namespace rankfault::testing
