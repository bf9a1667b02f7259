// first_scenario_test: the expectations that `init` proposes for a recorded run.
#include "harness/commands/first_scenario.h"

#include <gmock/gmock.h>

#include "tests/judge/facts.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const RunFacts& facts) {
  const Result<std::string> text = first_scenario(facts, "first", 1);
  EXPECT_TRUE(text.ok()) << text.error().to_string();
  return text ? *text : "";
}

TEST(FirstScenario, PromisesThatTheOthersAreFreed) {
  Facts facts;
  facts.call(3, RF_OP_ALL_REDUCE, 1, 2);
  facts.process(1).opaque = RF_OPAQUE_RMA;            // it says nothing about the calls that must be left
  facts.process(3).opaque = RF_OPAQUE_COMMUNICATION;  // the victim
  EXPECT_THAT(text_of(facts.facts()),
              HasSubstr("  - unblocked: {ranks: others, within: 30s, after: kill}\n"));
}

TEST(FirstScenario, PromisesOnlyEndsOfAProgramThatIsNotReadWhole) {
  Facts facts;
  facts.call(3, RF_OP_ALL_REDUCE, 1, 2);
  facts.process(1).opaque = RF_OPAQUE_COMMUNICATION;
  const std::string text = text_of(facts.facts());
  EXPECT_THAT(text, HasSubstr("  - ended: {ranks: others, exit: nonzero}\n"));
  EXPECT_THAT(text, Not(HasSubstr("- unblocked")));
}

TEST(FirstScenario, NeedsACall) {
  const Result<std::string> text = first_scenario(Facts().facts(), "first", 1);
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(text.error().message, HasSubstr("recorded no collective call of rank 3"));
}

}  // namespace
}  // namespace rankfault::test
