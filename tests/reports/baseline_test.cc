// baseline_test: bad input in every format, against approved baselines: a run whose texts are hostile, one
// whose tool was killed, and one without ranks.
#include "tests/reports/runs.h"

namespace rankfault::test {
namespace {

class BadInput : public testing::TestWithParam<const char*> {};

TEST_P(BadInput, HasItsBaseline) {
  Facts hostile(3), cut(2), none(0);
  const std::string format = GetParam();
  const std::string text = "== hostile\n" + written(GetParam(), {hostile_report(hostile)}) +
                           "\n== cut short\n" + written(GetParam(), {cut_report(cut)}) + "\n== no ranks\n" +
                           written(GetParam(), {report_of(none, "", "nothing")}) + "\n";
  expect_approved("bad-input." + format + ".txt", text);
}

INSTANTIATE_TEST_SUITE_P(, BadInput,
                         testing::Values("console", "junit", "junit-strict", "markdown", "github",
                                         "github-summary", "json", "trace"),
                         [](const auto& format) {
                           std::string name = format.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace rankfault::test
