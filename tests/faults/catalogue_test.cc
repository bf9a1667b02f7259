// catalogue_test: properties of every entry of the fault catalogue, whatever its kind.
#include <gtest/gtest.h>

#include "fake_oracle.h"
#include "faults/fault.h"
#include "harness/facts/run_facts.h"
#include "harness/scenario/one_line.h"
#include "harness/scenario/validate.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

std::vector<const FaultKind*> kinds() { return Catalog<FaultKind>::instance().all(); }

class EveryFault : public testing::TestWithParam<const FaultKind*> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryFault, testing::ValuesIn(kinds()),
                         [](const auto& entry) { return std::string(entry.param->name); });

TEST_P(EveryFault, IsDocumented) {
  const FaultKind& kind = *GetParam();
  for (const char* text : {kind.summary, kind.stands_for, kind.not_the_same, kind.verified_by, kind.example})
    EXPECT_GT(std::string(text).size(), 10u);
  for (const ParamSpec& spec : kind.params) EXPECT_GT(std::string(spec.doc).size(), 4u) << spec.name;
}

TEST_P(EveryFault, HasAnExampleThatCanBePlanned) {
  const Result<Scenario> scenario =
      scenario_from_command_line(4, "", {GetParam()->example}, {"finished: {}"}, {"prog"});
  ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
  const std::vector<Error> errors = validate(*scenario);
  EXPECT_TRUE(errors.empty()) << errors.front().to_string();
  const Result<Plan> plan = make_plan(*scenario, {});
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  ASSERT_FALSE(plan->actions.empty());
  for (const Action& action : plan->actions)
    EXPECT_TRUE(action.verb != RF_VERB_NONE || action.outside != kNoAct);
  const Result<Plan> again = plan_from_json(to_json(*plan));
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(to_json(*again), to_json(*plan));
}

TEST_P(EveryFault, RefusesMissingAndUnknownParameters) {
  const FaultKind& kind = *GetParam();
  bool needs_some = false;
  for (const ParamSpec& spec : kind.params) needs_some |= spec.required;
  EXPECT_EQ(check_params(map_value(), kind.params, kind.name).ok(), !needs_some);
  EXPECT_FALSE(check_params(map_value({{"no_such_key", int_value(1)}}), kind.params, kind.name).ok());
}

// A fault that did not fire is never verified: a pass that checked nothing is one of the worst bugs.
TEST_P(EveryFault, IsNotVerifiedWhenNothingHappened) {
  const Result<Scenario> scenario =
      scenario_from_command_line(4, "", {GetParam()->example}, {"finished: {}"}, {"prog"});
  ASSERT_TRUE(scenario.ok());
  RunFacts facts;
  facts.plan = *make_plan(*scenario, {});
  const EffectReport report = GetParam()->verify(facts.plan.scenario.faults[0], facts);
  EXPECT_EQ(report.effect, Effect::kNotFired);
  EXPECT_FALSE(is_known(report.at));
}

// A thread at the gate is not an effect yet.
TEST_P(EveryFault, IsNotVerifiedByTheGateAlone) {
  const Result<Scenario> scenario =
      scenario_from_command_line(4, "", {GetParam()->example}, {"finished: {}"}, {"prog"});
  RunFacts facts;
  facts.plan = *make_plan(*scenario, {});
  GateEvent gate;
  gate.rank = facts.plan.actions[0].rank;
  gate.process.pid = 100;
  gate.asked = instant_of(5);
  facts.gates.push_back(gate);
  EXPECT_NE(GetParam()->verify(facts.plan.scenario.faults[0], facts).effect, Effect::kVerified);
}

}  // namespace
}  // namespace rankfault
