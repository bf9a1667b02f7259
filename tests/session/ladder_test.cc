// ladder_test: one scenario at several world sizes: what runs, what is refused, which size fails first.
#include "harness/session/ladder.h"

#include <gmock/gmock.h>

#include "harness/base/exit_code.h"
#include "harness/commands/ladder_output.h"
#include "harness/scenario/scenario_parser.h"

namespace rankfault::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Scenario scenario(const std::string& more) {
  Result<Scenario> parsed =
      parse_scenario("version: 1\nname: t\nworkload: {ranks: 4, command: [prog]}\n" + more, "t.yaml");
  EXPECT_TRUE(parsed.ok()) << parsed.error().to_string();
  return *parsed;
}

const char* kPlain = "expect:\n  - finished\n";
const char* kKill =
    "faults:\n  - {id: kill, kind: rank_kill, ranks: [2], at: {op: all_reduce, nth: 3}}\n"
    "expect:\n  - unblocked\n";

// Runs that fail from `from` ranks on. `ran` collects the sizes that ran.
RunFunction failing_from(int from, std::vector<int>* ran) {
  return [=](const Plan& plan, const RunOptions&) -> Result<FinishedRun> {
    const int ranks = plan.scenario.workload.ranks;
    ran->push_back(ranks);
    FinishedRun run;
    run.facts = std::make_unique<RunFacts>();
    run.report.facts = run.facts.get();
    run.report.judgement.verdict = ranks < from ? Verdict::kPass : Verdict::kFail;
    run.report.judgement.as_it_must_be = ranks < from;
    run.report.judgement.summary = "says the test";
    return run;
  };
}

TEST(Ladder, NamesTheFirstSizeThatFails) {
  std::vector<int> ran;
  const auto ladder = run_ladder(scenario(kPlain), {8, 1, 4, 2, 4}, failing_from(4, &ran), {});
  ASSERT_TRUE(ladder.ok());
  EXPECT_THAT(ran, ElementsAre(1, 2, 4, 8));
  ASSERT_NE(ladder->first_failure(), nullptr);
  EXPECT_EQ(ladder->first_failure()->ranks, 4);
  EXPECT_EQ(ladder->exit_code, kExitFail);
  const std::string text = ladder_text(*ladder);
  EXPECT_THAT(text, HasSubstr("    2  PASS"));
  EXPECT_THAT(text, HasSubstr("    8  FAIL     says the test"));
  EXPECT_THAT(text, HasSubstr("fails first at 4 ranks"));
}

TEST(Ladder, IsWellWhenNoSizeFails) {
  std::vector<int> ran;
  const auto ladder = run_ladder(scenario(kPlain), {1, 2}, failing_from(99, &ran), {});
  EXPECT_EQ(ladder->first_failure(), nullptr);
  EXPECT_EQ(ladder->exit_code, kExitPass);
  EXPECT_THAT(ladder_text(*ladder), HasSubstr("fails at none of these sizes"));
}

TEST(Ladder, RefusesASizeThatHasNoSuchVictimAndRunsTheOthers) {
  std::vector<int> ran;
  const auto ladder = run_ladder(scenario(kKill), {1, 2, 4}, failing_from(99, &ran), {});
  ASSERT_TRUE(ladder.ok());
  EXPECT_THAT(ran, ElementsAre(4));
  EXPECT_THAT(ladder->rungs[1].refused, HasSubstr("rank 2"));
  EXPECT_THAT(ladder_text(*ladder), HasSubstr("    2  refused  t.yaml:"));
  EXPECT_EQ(ladder->exit_code, kExitPass);
}

TEST(Ladder, IsAUsageErrorWhenNoSizeCanBe) {
  std::vector<int> ran;
  const auto ladder = run_ladder(scenario(kKill), {1, 2}, failing_from(99, &ran), {});
  ASSERT_FALSE(ladder.ok());
  EXPECT_EQ(ladder.error().kind, ErrorKind::kUsage);
  EXPECT_TRUE(ran.empty());
}

TEST(Ladder, ASkippedSizeIsNoFailure) {
  std::vector<int> ran;
  const RunFunction inner = failing_from(4, &ran);
  const RunFunction run = [&](const Plan& plan, const RunOptions& options) -> Result<FinishedRun> {
    if (plan.scenario.workload.ranks == 1) return missing("no mpirun for one rank");
    return inner(plan, options);
  };
  const auto ladder = run_ladder(scenario(kPlain), {1, 2, 4}, run, {});
  ASSERT_NE(ladder->first_failure(), nullptr);
  EXPECT_EQ(ladder->first_failure()->ranks, 4);
}

TEST(Ladder, AnInterruptLeavesOutTheSizesThatDidNotRun) {
  std::atomic<int> signal{0};
  SessionOptions options;
  options.interrupted = &signal;
  std::vector<int> ran;
  const RunFunction inner = failing_from(99, &ran);
  const RunFunction run = [&](const Plan& plan, const RunOptions& with) -> Result<FinishedRun> {
    signal = 15;
    return inner(plan, with);
  };
  const auto ladder = run_ladder(scenario(kPlain), {1, 2, 4}, run, options);
  ASSERT_TRUE(ladder.ok());
  EXPECT_EQ(ladder->rungs.size(), 1u);
  EXPECT_EQ(ladder->exit_code, kExitTerminated);
}

TEST(Ladder, TellsMachinesTheSame) {
  std::vector<int> ran;
  const auto ladder = run_ladder(scenario(kKill), {2, 4, 8}, failing_from(8, &ran), {});
  const Json json = to_json(*ladder);
  EXPECT_EQ(json["first_failure"], 8);
  EXPECT_EQ(json["rungs"][0]["outcome"], "refused");
  EXPECT_EQ(json["rungs"][1]["verdict"], "pass");
}

}  // namespace
}  // namespace rankfault::test
