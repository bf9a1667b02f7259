// page_test: the HTML report: its data against approved baselines, hostile names, and its bounds.
// RANKFAULT_APPROVE=1 rewrites the baselines; read the difference before you commit it.
#include "reports/html/page.h"

#include <gmock/gmock.h>

#include "reports/html/assets.h"
#include "reports/html/run_data.h"
#include "reports/html/texts.h"
#include "tests/reports/html/page_runs.h"
#include "tests/reports/runs.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class HtmlPage : public testing::Test {
 protected:
  void SetUp() override {
    if (!html::have_d3()) GTEST_SKIP() << "libjs-d3 was missing when this program was built";
  }

  static std::string page(const std::vector<RunReport>& reports, size_t largest = html::kLargestPage) {
    const Result<std::string> text = html::page_of(reports, largest);
    EXPECT_TRUE(text.ok());
    return text ? *text : "";
  }

  // The JSON of one data element of a page.
  static Json data(const std::string& page, const std::string& id) {
    const std::string begin = "<script type=\"application/json\" id=\"" + id + "\">";
    const size_t from = page.find(begin);
    if (from == std::string::npos) return {};
    return Json::parse(page.substr(from + begin.size(), page.find("</script>", from) - from - begin.size()));
  }

  static size_t count(const std::string& text, const std::string& word) {
    size_t n = 0;
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++n;
    return n;
  }
};

TEST_F(HtmlPage, DataOfAKilledRankIsApproved) {
  const MadeRun run = killed_run();
  expect_approved("page.json", html::run_data(run.report, 1000).dump(1) + "\n");
}

TEST_F(HtmlPage, ARunThatIsTooLargeIsShownWithoutItsStacks) {
  const MadeRun run = killed_run();
  RankEvidence rank;
  rank.threads = {{7, "main", 'S', "", "", {{"wait", "program", "0x1"}}, {}}};
  run.facts->facts().evidence = {rank};
  const Json shown = data(page({run.report}, 1000), "run-0");
  EXPECT_EQ(shown["stacks"], Json::array());
  EXPECT_THAT(shown["notes"].dump(), HasSubstr("the stacks of 1 ranks are left out"));
  EXPECT_EQ(data(page({run.report}), "run-0")["stacks"].size(), 1u);
}

TEST_F(HtmlPage, RowsOfTheIndexAreApproved) {
  const MadeRun killed = killed_run(), again = killed_run();
  RunReport skipped;
  skipped.scenario = "mpi-kill";
  skipped.skipped = "needs mpi: no mpirun on PATH";
  killed.facts->facts().run_dir = "/runs/crash-kill-20261127-213311";
  const Json head = data(page({killed.report, again.report, skipped}), "head");
  expect_approved("page_index.json", head.dump(1) + "\n");
}

TEST_F(HtmlPage, IsRegisteredAsAFormat) {
  const MadeRun run = killed_run();
  const Report* format = Catalog<Report>::instance().find("html");
  ASSERT_NE(format, nullptr);
  EXPECT_EQ(*format->write({run.report}), page({run.report}));
}

TEST_F(HtmlPage, LoadsNothingAndForbidsTheNetwork) {
  const MadeRun run = killed_run();
  const std::string text = page({run.report});
  EXPECT_THAT(text, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(text, Not(HasSubstr("unsafe-inline")));
  for (const char* outside : {" src=", "<link", "@import", "url(http"})
    EXPECT_THAT(text, Not(HasSubstr(outside)));
}

TEST_F(HtmlPage, HostileNamesStayData) {
  const std::string plain = page({killed_run().report});
  const std::string hostile = "</script><script>x()</script><!--<img src=x>\x1b[31m&amp;\xff\xe2\x80\xa8" +
                              std::string(1, '\0') + "'\"`{}";
  const MadeRun run = hostile_run(hostile);
  const std::string text = page({run.report});
  EXPECT_EQ(count(text, "<script"), count(plain, "<script"));
  EXPECT_EQ(count(text, "</script"), count(plain, "</script"));
  EXPECT_THAT(text, Not(HasSubstr("<img")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  const Json data_of_run = data(text, "run-0");
  EXPECT_THAT(data_of_run["story"].get<std::string>(), HasSubstr("</script><script>x()"));
  for (const char c : html::for_script(data_of_run)) {
    ASSERT_GE(c, ' ');  // ASCII, no control character
    ASSERT_TRUE(c != '<' && c != '>' && c != '&') << c;
  }
}

TEST_F(HtmlPage, SecretsAreMasked) {
  const MadeRun run = hostile_run("API_TOKEN=hunter2 --password hunter2");
  const std::string text = page({run.report});
  EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  EXPECT_THAT(text, HasSubstr("API_TOKEN=***"));
}

TEST_F(HtmlPage, LongTextsAreCutAtACharacter) {
  std::string text(html::kLongestText - 1, 'a');
  text += "\xc3\xa9\xc3\xa9";
  EXPECT_EQ(html::clean(text), std::string(html::kLongestText - 1, 'a') + " ...");
}

TEST_F(HtmlPage, StaysBelowItsBoundAndCountsWhatItLeavesOut) {
  constexpr int kRanks = 40, kCalls = 3'000;
  const MadeRun run = long_run(kRanks, kCalls);
  const uint64_t all = data(page({run.report}), "run-0")["calls"].get<uint64_t>();
  EXPECT_EQ(all, static_cast<uint64_t>(kRanks * kCalls - 1));
  constexpr size_t kBound = 700'000;
  const std::string text = page({run.report}, kBound);
  EXPECT_LE(text.size(), kBound);
  const Json small = data(text, "run-0");
  EXPECT_GT(small["calls"].get<uint64_t>(), 0u);
  EXPECT_GT(small["left_out"].get<uint64_t>(), 0u);
  EXPECT_EQ(small["calls"].get<uint64_t>() + small["left_out"].get<uint64_t>(), all);
}

TEST_F(HtmlPage, OldCallsThatFailedStay) {
  MadeRun run = long_run(2, 1'000);
  rf_record& failed = run.facts->process(0).history.at(3).record;  // the end of the second call
  failed.phase = RF_PHASE_ERROR;
  failed.tag_or_result = -1;
  const Json one = html::run_data(run.report, 100);
  EXPECT_EQ(one["lanes"][0]["n"].get<int>(), 101);
  EXPECT_EQ(one["left_out"].get<int>(), 1'000 - 101 + 999 - 100);
}

TEST_F(HtmlPage, OldRunsKeepTheirRow) {
  std::vector<MadeRun> runs;
  std::vector<RunReport> reports;
  for (int i = 0; i < 20; ++i) {
    runs.push_back(long_run(8, 200));
    reports.push_back(runs.back().report);
  }
  const std::string text = page(reports, page({}).size() + 60'000);
  const Json rows = data(text, "head")["rows"];
  ASSERT_EQ(rows.size(), 20u);
  EXPECT_FALSE(rows[0]["opens"].get<bool>());
  EXPECT_TRUE(rows[19]["opens"].get<bool>());
  EXPECT_EQ(data(text, "run-0"), Json());
  EXPECT_NE(data(text, "run-19"), Json());
}

TEST_F(HtmlPage, IsMadeOfNoRunOfNoRankAndOfAThousandRanks) {
  EXPECT_EQ(data(page({}), "head")["runs"].get<int>(), 0);
  const MadeRun none = made(std::make_unique<Facts>(0), "none");
  EXPECT_TRUE(data(page({none.report}), "run-0")["lanes"].empty());
  const MadeRun many = long_run(1'024, 20);
  EXPECT_EQ(data(page({many.report}), "run-0")["lanes"].size(), 1'024u);
}

TEST_F(HtmlPage, SaysThatARunWasCutShort) {
  const MadeRun run = killed_run();
  run.facts->facts().ended = false;
  const Json notes = html::run_data(run.report, 100)["notes"];
  EXPECT_THAT(notes.dump(), HasSubstr("the journal ends before the run did"));
}

TEST_F(HtmlPage, RanksThatDidTheSameHaveOneDigest) {
  const MadeRun run = long_run(4, 50);
  const Json lanes = html::run_data(run.report, 100)["lanes"];
  EXPECT_EQ(lanes[0]["did"], lanes[2]["did"]);
  EXPECT_NE(lanes[0]["did"], lanes[3]["did"]);
}

}  // namespace
}  // namespace rankfault::test
