// old_names_test: an old word of a scenario file still works, and is reported with its place.
#include "harness/scenario/old_names.h"

#include <gmock/gmock.h>

#include "harness/scenario/scenario_parser.h"

namespace rankfault::test {
namespace {

TEST(OldNames, StillWorkAndWarn) {
  const ParsedScenario parsed = parse_all(
      "version: 1\nname: old\nworkload: {ranks: 2, command: [prog], limits: {wall: 9s}}\n"
      "expect:\n  - told: {kind: slow_rank}\n  - reported: {kind: wedged}\n",
      "old.yaml");
  ASSERT_TRUE(parsed.errors.empty()) << parsed.errors[0].to_string();
  ASSERT_EQ(parsed.scenario.expect.size(), 2u);
  EXPECT_EQ(parsed.scenario.expect[0].oracle, "reported");
  EXPECT_EQ(parsed.scenario.expect[0].id, "told") << "must_fail of an old file names it so";
  EXPECT_EQ(parsed.scenario.expect[1].id, "reported");
  ASSERT_EQ(parsed.warnings.size(), 1u);
  EXPECT_EQ(parsed.warnings[0].to_string(),
            "old.yaml:5:5: \"told\" is now \"reported\"; the next release refuses the old name");
}

}  // namespace
}  // namespace rankfault::test
