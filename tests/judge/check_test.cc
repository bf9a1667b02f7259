// check_test: only the exit status of the user's own command decides.
#include <gmock/gmock.h>

#include "tests/judge/facts.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

ExpectationResult told(const Json& line) {
  Facts facts(2);
  facts.expect("check: {command: [looks, here]}").line("check", line);
  return facts.result();
}

Json ended(const char* kind, int value) {
  return {
      {"id", "check"}, {"argv", {"looks", "here"}}, {"kind", kind}, {"value", value}, {"said", "as seen"}};
}

TEST(Check, JudgesByTheExitStatus) {
  EXPECT_EQ(told(ended("exit", 0)).verdict, Verdict::kPass);
  const ExpectationResult failed = told(ended("exit", 3));
  EXPECT_EQ(failed.verdict, Verdict::kFail);
  EXPECT_THAT(failed.because, HasSubstr("\"looks here\" exited 3: as seen"));
  EXPECT_EQ(failed.journal, std::vector<uint64_t>{3});
}

TEST(Check, IsUnknownWhenTheCommandCameToNoEndOfItsOwn) {
  EXPECT_EQ(told(ended("signal", 11)).verdict, Verdict::kUnknown);
  EXPECT_THAT(told(ended("signal", 11)).because, HasSubstr("SIGSEGV"));
  EXPECT_EQ(told(ended("timeout", -1)).verdict, Verdict::kUnknown);
  EXPECT_EQ(told({{"id", "check"}, {"kind", "not_run"}, {"why", "rankfault ended the job"}}).verdict,
            Verdict::kUnknown);
}

TEST(Check, IsUnknownWithoutALineOfItsOwn) {
  Json other = ended("exit", 0);
  other["id"] = "check#2";
  EXPECT_EQ(told(other).verdict, Verdict::kUnknown);
}

}  // namespace
}  // namespace rankfault::test
