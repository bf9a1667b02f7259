// planning: makes a plan from the text of a scenario in one step, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "harness/plan/plan.h"
#include "harness/scenario/scenario_parser.h"

namespace rankfault {

// A scenario of `ranks` ranks with these faults (YAML list items, indented by two blanks). These tests have
// no oracle catalogue, so the one expectation is never passed to validate().
inline Scenario scenario_with(const std::string& faults, int ranks = 4, const std::string& more = "") {
  const std::string text = "version: 1\nname: t\nworkload:\n  ranks: " + std::to_string(ranks) +
                           "\n  command: [prog, --steps=3]\n" + more + "faults:\n" + faults +
                           "expect:\n  - finished: {}\n";
  Result<Scenario> parsed = parse_scenario(text, "t.yaml");
  EXPECT_TRUE(parsed.ok()) << parsed.error().to_string();
  return parsed.ok() ? *parsed : Scenario{};
}

inline Result<Plan> plan_of(const Scenario& scenario, const PlanOptions& options = {}) {
  return make_plan(scenario, options);
}

inline Plan good_plan(const std::string& faults, int ranks = 4) {
  Result<Plan> plan = plan_of(scenario_with(faults, ranks));
  EXPECT_TRUE(plan.ok()) << plan.error().to_string();
  return plan.ok() ? *plan : Plan{};
}

}  // namespace rankfault
