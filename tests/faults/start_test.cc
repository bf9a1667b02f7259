// start_test: changed starts of a rank: what is refused, what the launcher does, and when the fault had an
// effect.
#include <gmock/gmock.h>

#include "fake_oracle.h"
#include "faults/fault.h"
#include "harness/facts/run_facts.h"
#include "harness/scenario/one_line.h"
#include "tests/support/journal_lines.h"

namespace rankfault {
namespace {

using testing::HasSubstr;

Result<Plan> plan(const std::string& fault, const std::string& launcher = "") {
  Result<Scenario> scenario = scenario_from_command_line(3, launcher, {fault}, {"finished: {}"}, {"prog"});
  if (!scenario) return scenario.error();
  return make_plan(*scenario, {});
}

std::string refusal(const std::string& fault, const std::string& launcher = "") {
  const Result<Plan> made = plan(fault, launcher);
  return made.ok() ? "accepted" : made.error().to_string();
}

TEST(StartFault, RefusesWhatCannotBe) {
  EXPECT_EQ(refusal("start@rank=1,how=never"), "accepted");
  EXPECT_THAT(refusal("start@rank=1,how=never", "mpirun"), HasSubstr("local launcher"));
  EXPECT_THAT(refusal("start@rank=1,how=never,op=all_reduce"), HasSubstr("no trigger"));
  EXPECT_THAT(refusal("start@rank=1,how=late"), HasSubstr("\"how: late\" needs \"by\""));
  EXPECT_THAT(refusal("start@rank=1,how=twice,by=1s"), HasSubstr("\"how: late\" needs \"by\""));
  EXPECT_THAT(refusal("start@rank=1,how=wrong_rank"), HasSubstr("gets instead"));
  EXPECT_THAT(refusal("start@rank=1,how=wrong_rank,as=1"), HasSubstr("own rank"));
  EXPECT_THAT(refusal("start@rank=1,how=wrong_rank,as=3"), HasSubstr("not in this job"));
  EXPECT_THAT(refusal("start@rank=1,how=wrong_size,as=3"), HasSubstr("differ from the job's world size"));
  EXPECT_THAT(refusal("start@ranks=all,how=never"), HasSubstr("at least one rank"));
  EXPECT_EQ(refusal("start@rank=1,how=wrong_env,env={A: b}"), "accepted");
  EXPECT_THAT(refusal("start@rank=1,how=wrong_env"), HasSubstr("{NAME: value}"));
  EXPECT_THAT(refusal("start@rank=1,how=wrong_env,env={}"), HasSubstr("at least one variable"));
  EXPECT_THAT(refusal("start@rank=1,how=wrong_env,env=A"), HasSubstr("must be a map"));
  EXPECT_THAT(refusal("start@rank=1,how=wrong_env,env={A: [b]}"), HasSubstr("must be text"));
  EXPECT_THAT(refusal("start@rank=1,how=wrong_env,env={A: '{stroe}/x'}"), HasSubstr("unknown placeholder"));
  EXPECT_THAT(refusal("start@rank=1,how=wrong_env,env={'': b}"), HasSubstr("not a variable name"));
  EXPECT_THAT(refusal("start@rank=1,how=wrong_env,env={A=B: b}"), HasSubstr("not a variable name"));
  EXPECT_THAT(refusal("start@rank=1,how=twice,env={A: b}"), HasSubstr("to wrong_env, not to twice"));
  EXPECT_THAT(refusal("start@rank=1,how=wrong_env,env={LD_PRELOAD: b}"), HasSubstr("is reserved"));
  EXPECT_THAT(refusal("start@rank=1,how=wrong_env,env={RANKFAULT_CONTROL: b}"), HasSubstr("is reserved"));
}

// A run that starts ranks 0, 1 and 2 at these times.
class StartVerified : public testing::Test {
 protected:
  void run(const std::string& fault, const std::vector<std::pair<int, uint64_t>>& starts) {
    Result<Plan> made = plan(fault);
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    facts.plan = std::move(*made);
    for (const auto& [rank, t] : starts)
      push_line(facts.journal, {{"n", facts.journal.size() + 1},
                                {"t", t},
                                {"ev", "spawned"},
                                {"rank", rank},
                                {"attempt", 0},
                                {"pid", 100 + static_cast<int>(facts.journal.size())}});
  }
  void recorded(int pid, Json env) {
    push_line(facts.journal, {{"n", facts.journal.size() + 1},
                              {"t", 100},
                              {"ev", "process"},
                              {"pid", pid},
                              {"env", std::move(env)}});
  }
  Effect effect() {
    return Catalog<FaultKind>::instance().find("start")->verify(facts.plan.scenario.faults[0], facts).effect;
  }
  RunFacts facts;
};

TEST_F(StartVerified, ARankThatWasNeverStartedIsNotInTheJournal) {
  run("start@rank=1,how=never", {{0, 10}, {2, 12}});
  EXPECT_EQ(effect(), Effect::kVerified);
  run("start@rank=1,how=never", {{1, 20}});
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(StartVerified, ALateOneCameSoMuchLater) {
  run("start@rank=1,how=late,by=1us", {{0, 10}, {2, 12}, {1, 900}});
  EXPECT_EQ(effect(), Effect::kVoid);
  set_key(facts.journal.back(), "t", 1010);
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(StartVerified, OneStartedTwiceIsThereTwice) {
  run("start@rank=1,how=twice", {{0, 10}, {1, 11}, {2, 12}});
  EXPECT_EQ(effect(), Effect::kVoid);
  run("start@rank=1,how=twice", {{1, 13}});
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(StartVerified, AWrongRankAndSizeAreReadFromTheVictimsOwnRecord) {
  run("start@rank=1,how=wrong_rank,as=2", {{0, 10}, {1, 11}, {2, 12}});
  EXPECT_EQ(effect(), Effect::kUnknown);
  ProcessView view;
  view.id.pid = 101;
  view.rank = 2;
  view.world_size = 7;
  facts.timeline.processes.push_back(view);
  EXPECT_EQ(effect(), Effect::kVerified);
  facts.plan = *plan("start@rank=1,how=wrong_size,as=7");
  EXPECT_EQ(effect(), Effect::kVerified);
  facts.plan = *plan("start@rank=1,how=wrong_size,as=6");
  EXPECT_EQ(effect(), Effect::kUnknown);
}

TEST_F(StartVerified, AWrongEnvironmentIsReadOfTheVictimsProcessAndIsNotTheOthers) {
  const std::string fault = "start@rank=1,how=wrong_env,env={DEVICE: 0}";
  run(fault, {{0, 10}, {1, 11}, {2, 12}});
  EXPECT_EQ(effect(), Effect::kUnknown) << "nobody left a record";
  recorded(101, {{"DEVICE", "0"}});
  EXPECT_EQ(effect(), Effect::kUnknown) << "nobody else did";
  recorded(100, {{"DEVICE", "0"}});
  EXPECT_EQ(effect(), Effect::kVoid) << "they are told the same";
  recorded(102, Json::object());
  EXPECT_EQ(effect(), Effect::kVerified) << "rank 2 has no such variable";
}

TEST_F(StartVerified, WhatARankIsToldAnywayIsNoWrongEnvironment) {
  run("start@rank=1,how=wrong_env,env={LOCAL_RANK: 1}", {{0, 10}, {1, 11}});
  recorded(101, {{"LOCAL_RANK", "1"}});
  recorded(100, {{"LOCAL_RANK", "0"}});
  EXPECT_EQ(effect(), Effect::kVerified);
  set_key(facts.journal[1], "told_anyway", Json::array({"LOCAL_RANK"}));
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(StartVerified, WhereNothingWasStartedItDidNotFire) {
  run("start@rank=1,how=never", {});
  EXPECT_EQ(effect(), Effect::kNotFired);
}

TEST_F(StartVerified, OnlyTheFirstAttemptCounts) {
  run("start@rank=1,how=never", {{0, 10}, {2, 12}, {1, 900}});
  EXPECT_EQ(effect(), Effect::kVoid);
  set_key(facts.journal.back(), "attempt", 1);
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(StartVerified, LateCountsFromTheFirstStartWhoeverIsToldFirst) {
  run("start@rank=1,how=late,by=1.5us", {{2, 1500}, {0, 10}, {1, 1600}});
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(StartVerified, NoLaterThanTheOthersAreStartedIsNotLate) {
  run("start@rank=1,how=late,by=1us", {{0, 10}, {2, 1500}, {1, 1600}});
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(StartVerified, AnotherProcessesRecordSaysNothingOfTheVictim) {
  run("start@rank=1,how=wrong_rank,as=2", {{0, 10}, {1, 11}, {2, 12}});
  ProcessView view;
  view.id.pid = 102;  // of rank 2 itself
  view.rank = 2;
  facts.timeline.processes.push_back(view);
  EXPECT_EQ(effect(), Effect::kUnknown);
}

}  // namespace
}  // namespace rankfault
