// What the agent leaves on a program's stack: a library that reads a variable before it has set it finds
// that.
#include <gtest/gtest.h>

#include "tests/agent/agent_run.h"

namespace rankfault::test {
namespace {

int left_after(const char* behaviour, bool with_agent) {
  AgentRun run;
  run.env["LD_BIND_NOW"] = "1";  // or the loader leaves its own at the first call
  if (!with_agent) run.agent.clear();
  run.env.erase("RANK");  // so the record is opened by the call itself, which takes most
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
