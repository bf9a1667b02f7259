// What the agent leaves on the stack of a program: a library that reads a variable before it sets it reads
// those bytes.
#include <gtest/gtest.h>

#include "tests/agent/agent_run.h"

namespace rankfault::test {
namespace {

int left_after(const char* behaviour, bool with_agent) {
  AgentRun run;
  run.env["LD_BIND_NOW"] = "1";  // otherwise the loader leaves its own bytes at the first call
  if (!with_agent) run.agent.clear();
  run.env.erase("RANK");  // the call itself then opens the record, which takes the most stack
  return run.run({behaviour});
}

TEST(ProgramStack, HasNothingOfTheAgentBelowAFirstCall) {
  ASSERT_EQ(left_after("left_on_stack", false), 0) << "the library's own";
  EXPECT_EQ(left_after("left_on_stack", true), 0);
}

TEST(ProgramStack, HasNothingOfTheAgentBelowTheFirstWrappedCallOfAThread) {
  EXPECT_EQ(left_after("left_by_wrapper", true), 0);
}

}  // namespace
}  // namespace rankfault::test
