// select_test: -k takes the scenarios that its expression names, and refuses an expression that lacks a word.
#include "harness/commands/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankfault {
namespace {

bool selects(const std::string& expression, const std::string& text) {
  const Result<Selection> selection = Selection::parse(expression);
  EXPECT_TRUE(selection.ok()) << expression;
  return selection.ok() && selection->matches(text);
}

TEST(Select, AndBindsTighterThanOr) {
  for (const char* chosen : {"hang/gloo.yaml", "crash/mpi.yaml"})
    EXPECT_TRUE(selects("hang and not mpi or crash", chosen)) << chosen;
  for (const char* left : {"hang/mpi.yaml", "timeout/gloo.yaml"})
    EXPECT_FALSE(selects("hang and not mpi or crash", left)) << left;
}

TEST(Select, WordsSideBySideMustAllMatchInAnyCase) {
  EXPECT_TRUE(selects("Hang MPI", "scenarios/hang/mpi-ring.yaml"));
  EXPECT_FALSE(selects("hang mpi", "scenarios/hang/ring.yaml"));
  EXPECT_FALSE(selects("not not hang", "crash"));
}

TEST(Select, NoExpressionTakesAll) { EXPECT_TRUE(selects("", "anything")); }

TEST(Select, AnOperatorWithoutAWordIsAMistake) {
  for (const char* wrong :
       {"hang or", "not", "or hang", "and", "hang and or mpi", "hang and not", "hang not or mpi"}) {
    const Result<Selection> selection = Selection::parse(wrong);
    ASSERT_FALSE(selection.ok()) << wrong;
    EXPECT_THAT(selection.error().to_string(), testing::HasSubstr("needs a word")) << wrong;
  }
}

}  // namespace
}  // namespace rankfault
