// shm_full_test: what the fault refuses, and that a small /dev/shm is not an effect while no rank fails in
// it.
#include <gmock/gmock.h>

#include "fake_oracle.h"
#include "faults/fault.h"
#include "harness/facts/run_facts.h"
#include "harness/scenario/one_line.h"
#include "tests/support/journal_lines.h"

namespace rankfault {
namespace {

using testing::HasSubstr;

Result<Plan> plan(const std::string& fault) {
  const Result<Scenario> scenario = scenario_from_command_line(3, "", {fault}, {"finished: {}"}, {"prog"});
  if (!scenario) return scenario.error();
  return make_plan(*scenario, {});
}

std::string refusal(const std::string& fault) {
  const Result<Plan> made = plan(fault);
  return made.ok() ? "accepted" : made.error().to_string();
}

TEST(ShmFull, IsOfTheWholeJobAndBeforeIt) {
  EXPECT_EQ(refusal("shm_full@ranks=all,size=65536"), "accepted");
  EXPECT_THAT(refusal("shm_full@rank=1"), HasSubstr("ranks: all"));
  EXPECT_THAT(refusal("shm_full@ranks=all,size=100"), HasSubstr("a page"));
  EXPECT_THAT(refusal("shm_full@ranks=all,op=all_reduce"), HasSubstr("no trigger"));
}

TEST(ShmFull, BitesOnlyWhereSomebodyFails) {
  RunFacts facts;
  facts.plan = *plan("shm_full@ranks=all");
  const auto effect = [&] {
    return Catalog<FaultKind>::instance()
        .find("shm_full")
        ->verify(facts.plan.scenario.faults[0], facts)
        .effect;
  };
  EXPECT_EQ(effect(), Effect::kNotFired);
  push_line(facts.journal, {{"n", 1},
                            {"t", 5},
                            {"ev", "mounted"},
                            {"fault", facts.plan.scenario.faults[0].id},
                            {"path", "/dev/shm"},
                            {"bytes", 65536}});
  EXPECT_EQ(effect(), Effect::kVoid);
  facts.ends.emplace_back();
  facts.ends.back().status = {ExitStatus::Kind::kCode, 0};
  EXPECT_EQ(effect(), Effect::kVoid);
  facts.ends.back().status = {ExitStatus::Kind::kCode, 1};
  EXPECT_EQ(effect(), Effect::kVerified);
  facts.ends.clear();
  facts.teardown_reason = "wall";
  EXPECT_EQ(effect(), Effect::kVerified);
}

// A rank that is stopped, or whose call is skipped, also hangs and fails its job with a large /dev/shm.
TEST(ShmFull, TheTroubleOfAnotherFaultIsNotItsOwn) {
  RunFacts facts;
  facts.plan = *plan("shm_full@ranks=all");
  const FaultSpec& fault = facts.plan.scenario.faults[0];
  const auto effect = [&] {
    return Catalog<FaultKind>::instance().find("shm_full")->verify(fault, facts).effect;
  };
  push_line(facts.journal, {{"n", 1}, {"t", 5}, {"ev", "mounted"}, {"fault", fault.id}, {"bytes", 65536}});
  Action skip;
  skip.id = static_cast<uint32_t>(facts.plan.actions.size());
  skip.fault = "skip";
  skip.verb = RF_VERB_SKIP;
  facts.plan.actions.push_back(skip);
  GateEvent gate;
  gate.action = skip.id;
  gate.asked = instant_of(100);
  gate.answer = "go";
  facts.gates.push_back(gate);
  facts.teardown_reason = "wall";
  EXPECT_EQ(effect(), Effect::kUnknown);
  facts.ends.emplace_back();
  facts.ends.back().status = {ExitStatus::Kind::kCode, 1};
  facts.ends.back().time = instant_of(200);
  EXPECT_EQ(effect(), Effect::kUnknown);
  facts.ends.back().time = instant_of(50);
  EXPECT_EQ(effect(), Effect::kVerified) << "before it";
  facts.ends.clear();
  facts.gates[0].answer = "no_go";
  EXPECT_EQ(effect(), Effect::kVerified) << "it did not fire";
  facts.plan.actions[skip.id].outside = "start";
  EXPECT_EQ(effect(), Effect::kUnknown) << "it was there before the job";
}

}  // namespace
}  // namespace rankfault
