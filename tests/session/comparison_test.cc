// comparison_test: a scenario with variants: what runs, in which order, and what its mutation checks must
// show.
#include "harness/session/comparison.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "harness/base/exit_code.h"
#include "harness/scenario/scenario_parser.h"
#include "harness/scenario/value.h"
#include "harness/session/session.h"

namespace rankfault::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const char* kText =
    "version: 1\nname: t\nworkload: {ranks: 4, command: [prog]}\n"
    "variants:\n  - {id: a, times: 2}\n  - {id: b, args: [--b], env: {X: y}, ranks: 2}\n"
    "teeth:\n  - {id: off, args: [--off], must_fail: compare}\n"
    "expect:\n  - finished\n  - compare: {value: weights}\n";

class Variants : public testing::Test {
 protected:
  Variants() {
    char name[] = "/tmp/rankfault-comparison-XXXXXX";
    folder_ = ::mkdtemp(name);
    Result<Scenario> parsed = parse_scenario(kText, "t.yaml");
    EXPECT_TRUE(parsed.ok()) << parsed.error().to_string();
    scenario_ = *parsed;
    options_.run_dir = folder_ + "/all";
  }
  ~Variants() override { std::filesystem::remove_all(folder_); }

  // A run whose ranks end well, and report the value of `weights_`.
  Result<FinishedRun> run(const Plan& plan, const RunOptions& with) {
    const Workload& workload = plan.scenario.workload;
    asked_.push_back(plan.variant + (plan.tooth.empty() ? "" : "+off"));
    last_ = workload;
    dirs_.push_back(with.run_dir);
    FinishedRun out;
    out.facts = std::make_unique<RunFacts>();
    out.facts->plan = plan;
    for (int rank = 0; rank < workload.ranks; ++rank) {
      Mark mark{"value", rank, 0, Instant(100ns), 5, "weights", weights_(plan)};
      out.facts->marks.push_back(mark);
    }
    out.report.judgement.verdict = finished_(plan);
    out.report.judgement.expectations = {{"finished", "finished", finished_(plan), "says the test", {}}};
    return out;
  }
  SessionResult session() {
    auto result = run_session(
        {scenario_}, [this](const Plan& p, const RunOptions& o) { return run(p, o); }, options_);
    EXPECT_TRUE(result.ok()) << result.error().to_string();
    return std::move(*result);
  }

  std::string folder_;
  Scenario scenario_;
  SessionOptions options_;
  std::vector<std::string> asked_, dirs_;
  Workload last_;
  std::function<uint64_t(const Plan&)> weights_ = [](const Plan&) { return 7; };
  std::function<Verdict(const Plan&)> finished_ = [](const Plan&) { return Verdict::kPass; };
};

TEST_F(Variants, NoneIsRunWhereOneCannotBeStarted) {
  options_.can_start = [](const Plan& plan) {
    return plan.variant == "b" ? Status(missing("b was not built")) : Status(Done{});
  };
  const SessionResult result = session();
  EXPECT_THAT(asked_, testing::IsEmpty());
  ASSERT_EQ(result.units.size(), 1u);
  EXPECT_EQ(result.units[0].report.skipped, "b was not built");
  EXPECT_EQ(result.exit_code, kExitSkipped);
}

TEST_F(Variants, RunInTurnsEachInADirectoryOfItsOwn) {
  const SessionResult result = session();
  EXPECT_THAT(asked_, ElementsAre("a", "b", "a"));
  EXPECT_EQ(dirs_[0], folder_ + "/all/a.1");
  EXPECT_EQ(dirs_[2], folder_ + "/all/a.2");
  ASSERT_EQ(result.units.size(), 1u);
  EXPECT_EQ(result.units[0].report.judgement.verdict, Verdict::kPass);
  EXPECT_EQ(result.units[0].report.compared->rows.size(), 3u);
  EXPECT_EQ(result.exit_code, kExitPass);
  EXPECT_TRUE(is_comparison(folder_ + "/all"));
}

TEST_F(Variants, ChangeArgumentsEnvironmentAndRanks) {
  scenario_.variants[0].times = 1;
  session();
  EXPECT_EQ(last_.ranks, 2);
  EXPECT_THAT(last_.command, ElementsAre("prog", "--b"));
  EXPECT_EQ(last_.env["X"], "y");
}

TEST_F(Variants, ThatDifferFailTheScenario) {
  weights_ = [](const Plan& plan) { return plan.variant == "b" ? 8 : 7; };
  options_.by_verdict = true;
  const SessionResult result = session();
  EXPECT_EQ(result.exit_code, kExitFail);
  EXPECT_THAT(result.units[0].report.judgement.summary, HasSubstr("compare: weights"));
}

TEST_F(Variants, AMissingNeedOfOneSkipsAllAndLeavesNothing) {
  const RunFunction refuse = [this](const Plan& plan, const RunOptions& with) -> Result<FinishedRun> {
    if (plan.variant == "b") return missing("no mpirun here");
    return run(plan, with);
  };
  const auto result = run_session({scenario_}, refuse, options_);
  EXPECT_EQ(result->exit_code, kExitSkipped);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/all"));
}

TEST_F(Variants, AnInterruptLeavesItUnknown) {
  std::atomic<int> signal{0};
  options_.interrupted = &signal;
  weights_ = [&](const Plan&) {
    signal = 15;
    return 7;
  };
  const SessionResult result = session();
  EXPECT_THAT(asked_, ElementsAre("a"));
  EXPECT_EQ(result.units[0].report.judgement.verdict, Verdict::kUnknown);
  EXPECT_THAT(result.units[0].report.judgement.summary, HasSubstr("was not run"));
}

TEST_F(Variants, ToothBitesWhenOnlyTheComparisonFails) {
  options_.run_dir.clear();
  options_.teeth = true;
  weights_ = [](const Plan& plan) { return plan.variant == "b" && !plan.tooth.empty() ? 8 : 7; };
  const SessionResult good = session();
  EXPECT_THAT(asked_, ElementsAre("a", "b", "a+off", "b+off"));
  ASSERT_EQ(good.units[0].teeth.size(), 1u);
  EXPECT_TRUE(good.units[0].teeth[0].bites) << good.units[0].teeth[0].why;
}

TEST_F(Variants, ToothThatChangesNothingOrBreaksAVariantDoesNotBite) {
  options_.run_dir.clear();
  options_.teeth = true;
  EXPECT_FALSE(session().units[0].teeth[0].bites);
  weights_ = [](const Plan& plan) { return plan.variant == "b" && !plan.tooth.empty() ? 8 : 7; };
  finished_ = [](const Plan& plan) { return plan.tooth.empty() ? Verdict::kPass : Verdict::kFail; };
  const SessionResult broken = session();
  EXPECT_FALSE(broken.units[0].teeth[0].bites);
  EXPECT_THAT(broken.units[0].teeth[0].why, HasSubstr("the mutation alone breaks the job"));
}

TEST_F(Variants, ToothMayChangeWhatAVariantIs) {
  options_.run_dir.clear();
  options_.teeth = true;
  scenario_.teeth[0].args.clear();
  Value none;
  none.data = Value::List{};
  scenario_.teeth[0].set = {{"variants.b.args", none}};
  session();
  EXPECT_THAT(last_.command, ElementsAre("prog"));
  EXPECT_EQ(last_.ranks, 2);
}

TEST_F(Variants, ToothMayChangeWhatAVariantSets) {
  options_.run_dir.clear();
  options_.teeth = true;
  scenario_.variants[1].set = {{"workload.cwd", text_value("/of-b")}};
  scenario_.teeth[0].args.clear();
  Value nothing;
  nothing.data = Value::Map{};
  scenario_.teeth[0].set = {{"variants.b.set", nothing}};
  std::vector<std::string> cwd;
  weights_ = [&](const Plan& plan) {
    if (plan.variant == "b") cwd.push_back(plan.scenario.workload.cwd);
    return 7;
  };
  session();
  EXPECT_EQ(cwd.front(), "/of-b");
  EXPECT_EQ(cwd.back(), "");
}

}  // namespace
}  // namespace rankfault::test
