// plan_json_test: a plan that is read back equals the plan that was written.
#include "fake_oracle.h"
#include "planning.h"

namespace rankfault {
namespace {

const char kFaults[] =
    "  - {id: a, kind: rank_kill, ranks: [0, 1], signal: TERM, times: 3, each_attempt: true, optional: "
    "true,\n"
    "     at: {step: 4, op: all_reduce, comm: {size: 2}, nth: 2, edge: after, phase: train}}\n"
    "  - {id: b, kind: rank_kill, ranks: 2-3, at: {file_op: rename, path: '*.tmp', after_fault: a}}\n"
    "  - {kind: rank_kill, ranks: all, times: unlimited, at: {mark: m}}\n";

TEST(PlanJson, RoundTrips) {
  Scenario scenario = scenario_with(kFaults, 4,
                                    "seed: 9\nreference: fault_free\nmust_be: {fail: finished}\nsummary: s\n"
                                    "teeth:\n  - {id: x, args: [--y], env: {A: '1'}, must_fail: finished}\n");
  Result<Plan> plan = make_plan(scenario, {});
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  plan->reference_run = "/some/where";
  const Json json = to_json(*plan);
  const Result<Plan> again = plan_from_json(Json::parse(json.dump()));
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(to_json(*again).dump(2), json.dump(2));
  EXPECT_EQ(again->actions.size(), plan->actions.size());
  EXPECT_EQ(again->scenario.teeth[0].env.at("A"), "1");
  EXPECT_EQ(again->scenario.text, plan->scenario.text);
}

TEST(PlanJson, RefusesWhatIsNoPlan) {
  EXPECT_FALSE(plan_from_json(Json::parse("{}")).ok());
  EXPECT_FALSE(plan_from_json(Json::parse("[1, 2]")).ok());
  const Json json = to_json(good_plan("  - {kind: rank_kill, ranks: [0], at: {op: barrier}}\n"));
  for (const char* key : {"verb", "outside"}) {
    Json wrong = json;
    wrong["actions"][0][key] = "explode";
    EXPECT_FALSE(plan_from_json(wrong).ok()) << key;
  }
}

TEST(PlanJson, RefusesAnotherVersion) {
  Json json = to_json(good_plan("  - {kind: rank_kill, ranks: [0], at: {op: barrier}}\n"));
  json["version"] = 2;
  const Result<Plan> plan = plan_from_json(json);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().message, "plan.json is of another version of rankfault: use that version");
}

}  // namespace
}  // namespace rankfault
