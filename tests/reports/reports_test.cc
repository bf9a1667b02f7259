// reports_test: each report against its approved baseline in tests/baselines. After an intended change,
// RANKFAULT_APPROVE=1 rewrites them; read the difference before you commit it.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "reports/log_that_tells.h"
#include "reports/words.h"
#include "tests/judge/census_line.h"
#include "tests/judge/facts.h"

namespace rankfault::test {
namespace {

std::string baseline_path(const std::string& name) {
  const char* source = std::getenv("RANKFAULT_SOURCE_DIR");
  return std::string(source ? source : ".") + "/tests/baselines/" + name;
}

void expect_approved(const std::string& name, const std::string& text) {
  if (std::getenv("RANKFAULT_APPROVE")) std::ofstream(baseline_path(name)) << text;
  std::ifstream in(baseline_path(name));
  std::stringstream approved;
  approved << in.rdbuf();
  EXPECT_EQ(text, approved.str()) << "against " << baseline_path(name);
}

// A failed kill, a canary that fails as it must, and a skipped scenario.
class Reports : public testing::Test {
 protected:
  Reports() {
    fill_killed();
    fill_canary();
    add(killed_, "scenarios/crash/kill.yaml", "kill");
    add(canary_, "scenarios/canary/ended.yaml", "ended-wrongly");
    RunReport skipped;
    skipped.scenario = "mpi-kill";
    skipped.file = "scenarios/crash/mpi-kill.yaml";
    skipped.skipped = "needs mpi: no mpirun on PATH";
    reports_.push_back(skipped);
  }

  void fill_killed() {
    killed_.fault("kill", {2}).struck("kill", 100, -1, 3);
    killed_.expect("blamed: {kind: dead_rank, ranks: [2], op: all_reduce}");
    killed_.expect("unblocked: {ranks: all, within: 1s, after: kill}").expect("left_nothing");
    killed_.call(0, RF_OP_ALL_REDUCE, 50, 1'300, -1).call(1, RF_OP_ALL_REDUCE, 50, 110, -1);
    killed_.signalled(2, 9, 100)
        .exited(0, 3, 1'400)
        .exited(1, 3, 120)
        .line("census", kCensus)
        .line("cleanup", {{"failed", Json::array()}});
    Finding dead = finding("dead_rank", {2});
    dead.text = "rank 2 is dead and never entered all_reduce 3 on world, which ranks 0 1 3 wait in";
    dead.sides = {{{0, 1, 3}, "all_reduce", "all_reduce x 1024 on world, call 3", "step.cc:12"}};
    killed_.found(dead);
    killed_.facts().plan.seed = 7;
  }

  void fill_canary() {
    canary_.all_exited(0, 200).expect("ended: {ranks: all, exit: 3}").found(finding("none", {}));
    canary_.facts().plan.scenario.must_be = {MustBe::Kind::kFail, "ended"};
  }

  void add(Facts& facts, const std::string& file, const std::string& name) {
    RunReport report;
    report.facts = &facts.facts();
    report.judgement = facts.judged();
    report.scenario = name;
    report.file = file;
    reports_.push_back(report);
  }

  std::string written(const char* format, const std::vector<RunReport>& reports) {
    const Report* report = Catalog<Report>::instance().find(format);
    return report ? *report->write(reports) : "";
  }

  Facts killed_, canary_;
  std::vector<RunReport> reports_;
};

TEST_F(Reports, ConsoleTellsTheCulpritFirst) { expect_approved("console.txt", written("console", reports_)); }
TEST_F(Reports, JunitTellsTheOutcome) { expect_approved("junit.xml", written("junit", reports_)); }
TEST_F(Reports, JsonTellsAllOfOneRun) { expect_approved("result.json", written("json", {reports_[0]})); }

TEST_F(Reports, OutcomesTellWhoNoticedAndHowItEnded) {
  const std::string table = written("outcomes", {reports_[0]});
  EXPECT_THAT(table, testing::HasSubstr("\n| kill | Gloo | not_linked | dead_rank: rank 2, proven"));
  EXPECT_THAT(table, testing::HasSubstr("peer_lost on rank 1 after 10 ms; timeout on rank 0 after 1 s |"));
  EXPECT_THAT(table, testing::HasSubstr("| ranks 0 1 exited 3, "));
  EXPECT_THAT(table, testing::HasSubstr("rank 2 ended by SIGKILL"));
}

TEST_F(Reports, OutcomesTellThatCudaWasADouble) {
  reports_[0].scenario = "nccl-kill";
  killed_.facts().cuda_double = "2.29.7";
  for (auto& process : killed_.facts().timeline.processes)
    for (Event& event : process.history) event.record.library = RF_LIB_NCCL;
  EXPECT_THAT(written("outcomes", {reports_[0]}), testing::HasSubstr("\n| kill | NCCL, CUDA doubled |"));
}

TEST_F(Reports, OutcomesLeaveOutCanariesAndWhatWasSkipped) {
  EXPECT_EQ(written("outcomes", {reports_[1], reports_[2]}), written("outcomes", {}));
}

TEST_F(Reports, OutcomesPutTheBackEndsOfACaseSideBySide) {
  std::vector<RunReport> runs{reports_[0], reports_[0], reports_[0]};
  runs[0].scenario = "mpi-trainer-stop";
  runs[1].scenario = "ddp-kill";
  const std::string table = written("outcomes", runs);
  EXPECT_EQ(table.find("| stop |"), table.rfind("\n| ") + 1) << table;
}

// The page in the docs has the generator's form: its head, as many cells in each row, and only shipped cases.
TEST_F(Reports, TheOutcomesPageHasTheGeneratorsForm) {
  const char* source = std::getenv("RANKFAULT_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "RANKFAULT_SOURCE_DIR is not set (run under ctest)";
  std::ifstream in(std::string(source) + "/docs/measurements/outcomes.md");
  const std::string page((std::istreambuf_iterator<char>(in)), {}), head = written("outcomes", {});
  const size_t table = page.find(head);
  ASSERT_NE(table, std::string::npos);
  std::istringstream rows(page.substr(table));
  const auto cells = std::count(head.begin(), head.begin() + static_cast<long>(head.find('\n')), '|');
  int count = 0;
  for (std::string row; std::getline(rows, row); ++count)
    EXPECT_EQ(std::count(row.begin(), row.end(), '|'), cells) << row;
  EXPECT_GT(count, 20);
}

TEST_F(Reports, ColourIsForTerminalsOnly) {
  EXPECT_THAT(console_text(reports_, true), testing::HasSubstr("\x1b["));
  EXPECT_THAT(console_text(reports_, false), testing::Not(testing::HasSubstr("\x1b[")));
}

TEST_F(Reports, JunitNamesAreUniqueAndItsTextIsEscaped) {
  reports_[2].skipped = "a < b & \"c\"";
  reports_.push_back(reports_[2]);
  const std::string xml = written("junit", reports_);
  EXPECT_THAT(xml, testing::HasSubstr("rankfault.scenarios.crash.mpi-kill#2"));
  EXPECT_THAT(xml, testing::HasSubstr("a &lt; b &amp; &quot;c&quot;"));
}

// The schema is shipped: it must know every key that rankfault writes, and rankfault must write every
// required key.
TEST_F(Reports, TheSchemaKnowsEveryKey) {
  const char* source = std::getenv("RANKFAULT_SOURCE_DIR");
  std::ifstream in(std::string(source ? source : ".") + "/docs/reference/result.v1.schema.json");
  const Json schema = Json::parse(in, nullptr, false);
  ASSERT_FALSE(schema.is_discarded());
  reports_[0].cuda_double = "2.29.7";  // the report then has all keys
  const Json result = result_json(reports_[0]);
  for (const auto& [key, value] : result.items()) EXPECT_TRUE(schema["properties"].contains(key)) << key;
  for (const Json& key : schema["required"]) EXPECT_TRUE(result.contains(key.get<std::string>())) << key;
  const Json& expectation = schema["properties"]["expectations"]["items"]["properties"];
  for (const auto& [key, value] : result["expectations"][0].items())
    EXPECT_TRUE(expectation.contains(key)) << key;
}

Finding effect(int rank, const std::string& told) {
  Finding f;  // without op and communicator
  f.kind = "exited_rank";
  f.ranks = {rank};
  f.text = "rank " + std::to_string(rank) + " " + told;
  f.caused_by = 0;
  return f;
}

// The newest attempt, the rank that failed by itself first, and its file.
TEST(LogThatTells, IsOfTheRankThatFailedByItselfInTheNewestAttempt) {
  RunFacts facts;
  facts.run_dir = "/runs/a";
  facts.logs = {"launcher.a0.log", "rank-1.a1.log"};
  const auto ended = [&](int rank, int attempt, int ms, ExitStatus::Kind kind, int value) {
    RankEnd end;
    end.rank = rank;
    end.attempt = attempt;
    end.time = instant_of(1'000'000ull * static_cast<uint64_t>(ms));
    end.status = {kind, value};
    end.last_words = {"Connection refused"};
    facts.ends.push_back(end);
  };
  EXPECT_EQ(log_that_tells(facts, ""), "");
  ended(0, 0, 1, ExitStatus::Kind::kCode, 1);
  EXPECT_THAT(log_that_tells(facts, ""),
              testing::HasSubstr("rank 0, attempt 0, exit 1: /runs/a/logs/launcher.a0.log\n"));
  ended(0, 1, 5, ExitStatus::Kind::kSignal, 15);  // by its launcher
  ended(2, 1, 7, ExitStatus::Kind::kCode, 1);
  ended(1, 1, 6, ExitStatus::Kind::kCode, 3);
  EXPECT_EQ(
      log_that_tells(facts, ""),
      "  log     rank 1, attempt 1, exit 3: /runs/a/logs/rank-1.a1.log\n          Connection refused\n");
  EXPECT_THAT(log_that_tells(facts, "          rank 1 wrote: Connection refused\n"),
              testing::Not(testing::HasSubstr("refused")));
  GateEvent exit_of_1;  // a fault made rank 1 exit: what rank 2 wrote tells more
  exit_of_1.rank = 1;
  exit_of_1.attempt = 1;
  facts.gates = {exit_of_1};
  EXPECT_THAT(log_that_tells(facts, ""), testing::HasSubstr("rank 2, attempt 1, exit 1: "));
}

TEST(FindingsText, EqualEffectsAreOneLine) {
  Finding cause;
  cause.kind = "dead_rank";
  cause.ranks = {2};
  cause.sides = {{{0, 1, 3}, "all_reduce", "all_reduce on world, call 3", ""}};
  cause.text = "rank 2 was ended by SIGKILL";
  const Findings all{
      {cause, effect(3, "exited with 3"), effect(0, "exited with 3"), effect(1, "exited with 4")}};
  const std::string text = findings_text(all);
  EXPECT_THAT(text, testing::HasSubstr(
                        "then   exited_rank: ranks 0 3, inferred\n          ranks 0 3 exited with 3\n"));
  EXPECT_THAT(text,
              testing::HasSubstr("then   exited_rank: rank 1, inferred\n          rank 1 exited with 4\n"));
  EXPECT_THAT(text, testing::HasSubstr("all_reduce on world, call 3"));
}

// The end of a watched job: what was printed before, short, but with the lines of the first cause.
TEST(FindingsText, TheSummaryHasTheSidesOfTheFirstFindingAlone) {
  Finding first, second;
  first.kind = second.kind = "missing_call";
  first.sides = {{{0, 1}, "all_reduce", "all_reduce on world, call 3", "step() at train.py:5"}};
  second.sides = {{{2, 3}, "barrier", "barrier on world, call 9", "end() at train.py:8"}};
  first.evidence = {"rank 1 wrote: bye"};
  const std::string text = findings_summary({{first, second}});
  EXPECT_THAT(text, testing::HasSubstr("ranks 0 1: all_reduce on world, call 3 at step() at train.py:5\n"));
  EXPECT_THAT(text,
              testing::Not(testing::AnyOf(testing::HasSubstr("train.py:8"), testing::HasSubstr("bye"))));
}

}  // namespace
}  // namespace rankfault::test
