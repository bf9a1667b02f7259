// one_screen_test: what does not fit is shortened in the given order, and nothing else is.
#include "reports/one_screen.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace rankfault::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string lines(const std::string& word, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += word + "\n";
  return text;
}

std::vector<TextPart> parts() {
  return {{"verdict\n"}, {lines("stack", 10), "stacks\n", 0}, {lines("side", 6), "sides\n", 1}, {"run\n"}};
}

TEST(OneScreen, CountsTheRowsThatATerminalNeeds) {
  EXPECT_EQ(rows_of("", 80), 0u);
  EXPECT_EQ(rows_of("a\n\nb", 80), 3u);
  const std::string row(80, 'x');
  EXPECT_EQ(rows_of(fmt::format("{}x\n", row), 80), 2u);
  EXPECT_EQ(rows_of(fmt::format("\x1b[1m\x1b[31m{}\x1b[0m\n", row), 80), 1u) << "colours take none";
  std::string wide;
  for (int i = 0; i < 80; ++i) wide += "✓";
  EXPECT_EQ(rows_of(wide, 80), 1u);
}

TEST(OneScreen, LeavesATextThatFits) {
  const FittedText whole = fit_on(Screen{80, 20}, parts());
  EXPECT_FALSE(whole.shortened);
  EXPECT_EQ(rows_of(whole.text, 80), 18u);
}

TEST(OneScreen, ShortensTheLeastImportantPartFirst) {
  const FittedText one = fit_on(Screen{80, 19}, parts());
  EXPECT_TRUE(one.shortened);
  EXPECT_THAT(one.text, HasSubstr("stacks\nside\n"));
  const FittedText both = fit_on(Screen{80, 8}, parts());
  EXPECT_EQ(both.text, "verdict\nstacks\nsides\nrun\n");
}

TEST(OneScreen, KeepsEverythingWithoutAScreen) {
  const FittedText whole = fit_on(std::nullopt, parts());
  EXPECT_FALSE(whole.shortened);
  EXPECT_THAT(whole.text, Not(HasSubstr("stacks")));
}

}  // namespace
}  // namespace rankfault::test
