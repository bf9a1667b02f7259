// judge_test: merging of verdicts, and what every oracle must do.
#include <gmock/gmock.h>

#include "harness/base/exit_code.h"
#include "harness/scenario/scenario_parser.h"
#include "harness/scenario/validate.h"
#include "tests/judge/census_line.h"
#include "tests/judge/facts.h"

namespace rankfault::test {
namespace {

Facts well() {
  Facts facts;
  facts.all_exited(0, 500).line("census", kCensus).expect("finished").expect("left_nothing");
  return facts;
}

TEST(Judge, PassesWhenEveryExpectationDoes) {
  EXPECT_EQ(well().judged().verdict, Verdict::kPass);
  EXPECT_TRUE(well().judged().as_it_must_be);
}

TEST(Judge, AFailureOutweighsAnUnknown) {
  Facts facts = well();
  facts.expect("same_as_reference: {values: [w]}");
  EXPECT_EQ(facts.judged().verdict, Verdict::kUnknown);
  facts.expect("ended: {exit: 1}");
  EXPECT_EQ(facts.judged().verdict, Verdict::kFail);
}

// A lost line may be the one that makes an expectation fail, or the one that makes it pass.
TEST(Judge, WithoutLinesThatTheDiskRefusedNoVerdictIsSure) {
  Facts passes = well(), fails = well();
  fails.expect("ended: {exit: 1}");
  for (Facts* facts : {&passes, &fails}) {
    facts->facts().lost_lines = 3;
    const Judgement judgement = facts->judged();
    EXPECT_EQ(judgement.verdict, Verdict::kUnknown);
    EXPECT_FALSE(judgement.as_it_must_be);
    EXPECT_EQ(judgement.summary, "journal: 3 lines of the journal could not be written");
  }
}

// While the guardian was stopped, no process watched what the job made.
TEST(Judge, NothingLeftIsUnknownWhenSomebodyStoppedTheGuardian) {
  Facts facts = well();
  facts.line("guardian_stopped", {{"times", 1}});
  EXPECT_EQ(facts.judged().verdict, Verdict::kUnknown);
}

TEST(Judge, NothingExpectedIsNothingShown) { EXPECT_EQ(Facts().judged().verdict, Verdict::kUnknown); }

// Without the catalogue the effect of the fault cannot be verified: unknown, although all else holds.
TEST(Judge, AFaultNobodyCanVerifyIsNoPass) {
  Facts facts = well();
  EXPECT_EQ(facts.fault("kill", {2}).judged().verdict, Verdict::kUnknown);
  EXPECT_EQ(facts.struck("kill", 50).judged().verdict, Verdict::kPass);
}

// A launcher that fails before any rank is recorded is a mistake of the command, unless a fault made it fail.
TEST(Judge, AJobThatAFaultKeptFromStartingIsJudged) {
  Facts facts = well();
  facts.fault("full", {2});
  facts.facts().no_rank = {
      {.attempt = 0, .launcher = "mpirun", .status = "exit 1", .log = "logs/launcher.a0.log", .last = {}}};
  EXPECT_TRUE(facts.judged().not_started);
  EXPECT_EQ(exit_of_verdict(facts.judged()), kExitUsage);
  facts.struck("full", 50);
  EXPECT_FALSE(facts.judged().not_started);
  EXPECT_EQ(facts.judged().verdict, Verdict::kPass);
}

TEST(Judge, AnOptionalFaultNeedNotFire) {
  Facts facts = well();
  facts.fault("kill", {2}).facts().plan.scenario.faults[0].optional = true;
  EXPECT_EQ(facts.judged().verdict, Verdict::kPass);
}

TEST(Judge, WhatOnlyAFaultCanCauseIsVoidWhenNoneBit) {
  Facts facts;
  facts.fault("kill", {2}).found(finding("none", {})).expect("blamed: {kind: dead_rank}").all_exited(0, 5);
  facts.expect("ended: {exit: nonzero}");
  const Judgement judgement = facts.judged();
  EXPECT_EQ(judgement.expectations[0].verdict, Verdict::kVoid);
  EXPECT_EQ(judgement.expectations[1].verdict, Verdict::kVoid);
}

TEST(Judge, AWrongBlameFailsEvenWhenNoFaultBit) {
  Facts facts;
  facts.fault("kill", {2}).found(finding("missing_call", {0})).expect("blamed: {kind: dead_rank}");
  EXPECT_EQ(facts.judged().verdict, Verdict::kFail);
}

TEST(Judge, TheOutcomeComparesWithWhatMustBe) {
  Facts facts = well();
  facts.expect("ended: {exit: 1}").facts().plan.scenario.must_be = {MustBe::Kind::kFail, "ended"};
  EXPECT_TRUE(facts.judged().as_it_must_be);
  EXPECT_EQ(exit_of_verdict(facts.judged()), kExitFail);
  EXPECT_EQ(exit_of_outcome(facts.judged()), kExitPass);
  facts.facts().plan.scenario.must_be = {MustBe::Kind::kFail, "finished"};
  EXPECT_FALSE(facts.judged().as_it_must_be);
  facts.facts().plan.scenario.must_be = {MustBe::Kind::kVoid, ""};
  EXPECT_FALSE(facts.judged().as_it_must_be);
}

TEST(Judge, APassWhereAFailureWasDueIsAFailure) {
  Facts facts = well();
  facts.facts().plan.scenario.must_be = {MustBe::Kind::kFail, "finished"};
  EXPECT_EQ(exit_of_outcome(facts.judged()), kExitFail);
}

// The judge never says "PASS" while something is left on the host.
TEST(Judge, ARunThatCouldNotBeCleanedUpDoesNotPass) {
  Facts facts = well();
  facts.line("cleanup", {{"failed", {"the guardian ended before it undid the changes of the run"}}});
  EXPECT_EQ(facts.judged().verdict, Verdict::kUnknown);
  EXPECT_EQ(facts.judged().summary,
            "clean_up: clean-up is incomplete: the guardian ended before it undid the changes of the run");
}

class EveryOracle : public testing::TestWithParam<const Oracle*> {};

TEST_P(EveryOracle, IsDocumented) {
  EXPECT_GT(std::string(GetParam()->summary).size(), 20u);
  EXPECT_EQ(std::string(GetParam()->example).rfind(GetParam()->name, 0), 0u);
  for (const ParamSpec& param : GetParam()->params) EXPECT_NE(std::string(param.doc), "") << param.name;
}

TEST_P(EveryOracle, AcceptsItsOwnExampleAndRefusesAnUnknownKey) {
  const std::string head =
      "version: 1\nname: t\nreference: fault_free\nworkload: {ranks: 4, command: [x], limits: {wall: "
      "9s}}\nexpect:\n  - ";
  const auto oracle_errors = [&](const std::string& example) {
    ParsedScenario parsed = parse_all(head + example + "\n", "t.yaml");
    EXPECT_TRUE(parsed.errors.empty()) << (parsed.errors.empty() ? "" : parsed.errors[0].to_string());
    name_lone_parameters(parsed.scenario);
    return check_params(parsed.scenario.expect.at(0).params, GetParam()->params, GetParam()->name).ok();
  };
  EXPECT_TRUE(oracle_errors(GetParam()->example));
  EXPECT_FALSE(oracle_errors(std::string(GetParam()->name) + ": {no_such_key: 1}"));
}

// A pass that checked nothing is one of the three worst bugs (CONTRIBUTING.md).
TEST_P(EveryOracle, DoesNotPassOverNothing) {
  Facts facts;
  facts.facts().timeline.processes.clear();
  facts.facts().journal.clear();
  facts.expect(GetParam()->example);
  if (GetParam()->judge_over) {
    const ExpectationSpec& spec = facts.facts().plan.scenario.expect.at(0);
    EXPECT_NE(GetParam()->judge_over(spec, {}).verdict, Verdict::kPass);
    EXPECT_NE(
        GetParam()->judge_over(spec, {{"direct", 1, &facts.facts()}, {"chunked", 1, &facts.facts()}}).verdict,
        Verdict::kPass);
    EXPECT_NE(GetParam()->judge(spec, facts.facts()).verdict, Verdict::kPass);
    return;
  }
  EXPECT_NE(facts.result().verdict, Verdict::kPass);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryOracle, testing::ValuesIn(Catalog<Oracle>::instance().all()),
                         [](const auto& one) { return std::string(one.param->name); });

}  // namespace
}  // namespace rankfault::test
