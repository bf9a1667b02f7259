// planner_test: every choice is made once and always in the same way, and impossible plans are refused.
#include <gmock/gmock.h>
#include <signal.h>

#include "fake_oracle.h"
#include "planning.h"

namespace rankfault {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const char kKill[] = "  - {id: kill, kind: rank_kill, ranks: [2], at: {op: all_reduce, nth: 3}}\n";

std::string refusal(const std::string& faults, int ranks = 4) {
  const Result<Plan> plan = plan_of(scenario_with(faults, ranks));
  return plan.ok() ? "accepted" : plan.error().to_string();
}

TEST(Planner, LowersAKillToASignalFromOutside) {
  const Plan plan = good_plan(kKill);
  ASSERT_EQ(plan.actions.size(), 1u);
  const Action& action = plan.actions[0];
  EXPECT_EQ(action.fault, "kill");
  EXPECT_EQ(action.rank, 2);
  EXPECT_EQ(action.verb, RF_VERB_OUTSIDE);
  EXPECT_EQ(action.outside, "signal");
  EXPECT_EQ(action.signal, SIGKILL);
  EXPECT_EQ(action.at.nth, 3);
  EXPECT_EQ(action.times, 1u);
  EXPECT_TRUE(action.ask);
  EXPECT_THAT(plan.preload, IsEmpty());
}

TEST(Planner, GivesTheSameBytesForTheSameInput) {
  const Scenario scenario = scenario_with(kKill);
  EXPECT_EQ(to_json(*make_plan(scenario, {})).dump(), to_json(*make_plan(scenario, {})).dump());
}

TEST(Planner, MakesNoActionWhenFaultsAreOff) {
  PlanOptions options;
  options.faults_on = false;
  const Result<Plan> plan = make_plan(scenario_with(kKill), options);
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(plan->actions, IsEmpty());
  EXPECT_NE(plan->scenario_digest, good_plan(kKill).scenario_digest);
}

TEST(Planner, AppliesAToothsArgumentsEnvironmentAndPlace) {
  const Scenario scenario =
      scenario_with(kKill, 4,
                    "teeth:\n  - {args: [--off], env: {A: b}, set: {faults.kill.at: {op: barrier}}, "
                    "must_fail: finished}\n");
  PlanOptions options;
  options.tooth = &scenario.teeth[0];
  const Result<Plan> plan = make_plan(scenario, options);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_THAT(plan->scenario.workload.command, ElementsAre("prog", "--steps=3", "--off"));
  EXPECT_EQ(plan->scenario.workload.env.at("A"), "b");
  EXPECT_EQ(plan->actions[0].at.op, "barrier");
  EXPECT_EQ(plan->actions[0].at.nth, 1);
  EXPECT_EQ(plan->tooth, "t1");
}

TEST(Planner, SetChangesOnePlaceAndRefusesUnknownOnes) {
  PlanOptions options;
  options.set = {{"faults.kill.at.nth", "7"}, {"workload.ranks", "5"}};
  const Result<Plan> plan = make_plan(scenario_with(kKill), options);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(plan->actions[0].at.nth, 7);
  EXPECT_EQ(plan->scenario.workload.ranks, 5);
  options.set = {{"faults.kil.at.nth", "7"}};
  const Result<Plan> wrong = make_plan(scenario_with(kKill), options);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().to_string(), HasSubstr("did you mean \"kill\"?"));
}

TEST(Planner, LinksAfterFaultToTheSameRankElseToTheFirst) {
  const Plan plan = good_plan(
      "  - {id: a, kind: rank_kill, ranks: [0, 1], at: {op: barrier}}\n"
      "  - {id: b, kind: rank_kill, ranks: [1, 3], at: {op: barrier, after_fault: a}}\n");
  ASSERT_EQ(plan.actions.size(), 4u);
  EXPECT_EQ(plan.actions[0].after, -1);
  EXPECT_EQ(plan.actions[2].after, 1);
  EXPECT_EQ(plan.actions[3].after, 0);
}

TEST(Planner, PreloadsTheFileCallsOnlyWhenATriggerNeedsThem) {
  const Plan plan = good_plan(
      "  - {id: kill, kind: rank_kill, ranks: [0], at: {file_op: rename, path: '*ckpt*', nth: 2}}\n");
  EXPECT_THAT(plan.preload, ElementsAre("libc"));
  EXPECT_THAT(plan.notes, testing::Contains(HasSubstr("inner:")));
}

TEST(Planner, PreloadsTheFileCallsWhereAFolderIsFull) {
  EXPECT_THAT(good_plan("  - {kind: shm_full, ranks: all, size: 65536}\n").preload, ElementsAre("libc"));
}

TEST(Planner, PreloadsTheFileCallsWhereNcclMakesSegments) {
  Scenario scenario = scenario_with("  - {kind: rank_kill, ranks: [0], at: {op: barrier}}\n");
  scenario.workload.cuda_double = true;
  const Result<Plan> plan = plan_of(scenario);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_THAT(plan->preload, ElementsAre("libc"));
}

TEST(Planner, RefusesWordsThatAreNotUtf8) {
  Scenario scenario = scenario_with("  - {kind: rank_kill, ranks: [1], at: {op: barrier}}\n");
  scenario.workload.command.push_back("--name=\xff");
  Result<Plan> plan = plan_of(scenario);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().message, "not UTF-8: --name=?");
  scenario.workload.command.pop_back();
  scenario.workload.launcher_args = {"-x", "A=\xff"};  // watch takes these from the words of mpirun
  EXPECT_FALSE(plan_of(scenario).ok());
}

TEST(Planner, RefusesWhatCanNeverHappen) {
  EXPECT_EQ(refusal("  - {kind: rank_kill, ranks: [7], at: {op: barrier}}\n"),
            "t.yaml:7:30: rank 7 is not in this job: ranks are 0 to 3");
  EXPECT_THAT(refusal("  - {kind: rank_kill, ranks: [1], at: {op: barrier, comm: {size: 8}}}\n"),
              HasSubstr("a job of 4 ranks cannot have a communicator of size 8"));
  EXPECT_THAT(refusal("  - {kind: rank_kill, ranks: [1], at: {op: barrier, comm: {size: 2, has_rank: 3}}}\n"),
              HasSubstr("\"has_rank\" must be the only victim of the fault"));
  EXPECT_THAT(refusal("  - {kind: rank_kill, ranks: [1], at: {op: barrier, attempt: 1}}\n"),
              HasSubstr("attempt 1 does not exist"));
  EXPECT_THAT(refusal("  - {kind: rank_kill, ranks: [1]}\n"), HasSubstr("rank_kill needs \"at\""));
  EXPECT_THAT(refusal("  - {id: a, kind: rank_kill, ranks: [1], at: {after_fault: b}}\n"
                      "  - {id: b, kind: rank_kill, ranks: [1], at: {after_fault: a}}\n"),
              HasSubstr("waits for itself"));
  EXPECT_THAT(refusal("  - {id: a, kind: rank_kill, ranks: [1], at: {after_fault: zz}}\n"),
              HasSubstr("after_fault names no fault"));
  EXPECT_THAT(refusal("  - {id: a, kind: start, how: late, by: 1s, ranks: [1]}\n"
                      "  - {id: b, kind: rank_kill, ranks: [2], at: {op: barrier, after_fault: a}}\n"),
              HasSubstr("\"a\" acts before any rank starts: after_fault cannot wait for it"));
  EXPECT_THAT(refusal("  - {id: a, kind: rank_kil, ranks: [1], at: {op: barrier}}\n"),
              HasSubstr("t.yaml:7:19: unknown fault kind \"rank_kil\" (did you mean \"rank_kill\"?)"));
}

}  // namespace
}  // namespace rankfault
