// checks_test: the commands of `check` expectations run without a shell, have a time limit, and are
// journaled.
#include "harness/live/checks.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <thread>

#include "harness/scenario/scenario_parser.h"
#include "tests/support/tool.h"

namespace rankfault::testing {
namespace {

class ChecksTest : public ::testing::Test {
 protected:
  // The journal line about one check with these YAML parameters.
  Json line_of(const std::string& params, bool over = true, const std::atomic<int>* interrupted = nullptr) {
    Result<Scenario> scenario = parse_scenario(
        "version: 1\nname: t\nworkload: {ranks: 2, command: [prog]}\n"
        "expect:\n  - check: " +
            params + "\n",
        "t.yaml");
    EXPECT_TRUE(scenario.ok()) << scenario.error().to_string();
    plan_.scenario = *scenario;
    run_checks({plan_, *run_, 0, "/no/bin", "", {}}, over, interrupted, *guardian_, *journal_);
    const auto lines = read_journal(scratch_.file("journal.ndjson"));
    return lines->empty() ? Json::object() : to_json(lines->back());
  }

  ~ChecksTest() override { (void)guardian_->quit(); }

  test::Scratch scratch_;
  Plan plan_;
  Result<RunDir> run_ = RunDir::create(scratch_.file("run"), "checks");
  Result<Journal> journal_ = Journal::create(scratch_.file("journal.ndjson"));
  Result<Guardian> guardian_ = Guardian::start(*run_);
};

TEST_F(ChecksTest, TellsTheExitStatusAndWhatWasSaid) {
  const Json line = line_of("{command: [sh, -c, 'echo first; echo last; exit 3']}");
  EXPECT_EQ(line["ev"], "check");
  EXPECT_EQ(line["id"], "check");
  EXPECT_EQ(line["kind"], "exit");
  EXPECT_EQ(line["value"], 3);
  EXPECT_EQ(line["said"], "last");
  EXPECT_EQ(line["bytes"], 11);
  EXPECT_EQ(test::read_file(run_->file(line["output"])), "first\nlast\n");
}

TEST_F(ChecksTest, GivesTheProgramItsWordsAsTheyAre) {
  const Json line = line_of("{command: [printf, '%s', '$HOME; {ranks} {rank}']}");
  EXPECT_EQ(line["said"], "$HOME; 2 {rank}");
}

TEST_F(ChecksTest, DigestsAllOfALongOutputAndKeepsItsBeginning) {
  const Json line = line_of("{command: [head, -c, 1000000, /dev/zero]}");
  EXPECT_EQ(line["bytes"], 1000000);
  EXPECT_EQ(test::read_file(run_->file(line["output"])).size(), 65536u);
}

TEST_F(ChecksTest, EndsOneThatDoesNotEndWithAllItStarted) {
  const std::string pid_file = scratch_.file("pid");
  const Json line =
      line_of("{command: [sh, -c, 'sleep 1000 & echo $! > " + pid_file + "; wait'], within: 200ms}");
  EXPECT_EQ(line["kind"], "timeout");
  const int pid = std::stoi(test::read_file(pid_file));
  while (::kill(pid, 0) == 0) {  // the process that adopted it must still reap it
    const std::string state = test::read_file("/proc/" + std::to_string(pid) + "/stat");
    if (state.find(") Z ") != std::string::npos) break;
    std::this_thread::yield();
  }
}

TEST_F(ChecksTest, RunsNothingWhileTheJobIsThere) {
  EXPECT_EQ(line_of("{command: ['true']}", false)["kind"], "not_run");
}

TEST_F(ChecksTest, EndsWhenTheUserInterrupts) {
  const std::atomic<int> interrupted{2};
  EXPECT_EQ(line_of("{command: [sleep, '1000']}", true, &interrupted)["kind"], "not_run");
}

TEST_F(ChecksTest, AProgramThatIsNotThereIsToldBeforeTheJobStarts) {
  (void)line_of("{command: [no_such_program_here]}");
  EXPECT_FALSE(checks_can_start({plan_, *run_, 0, "/no/bin", "", {}}).ok());
  (void)line_of("{command: ['true']}");
  EXPECT_TRUE(checks_can_start({plan_, *run_, 0, "/no/bin", "", {}}).ok());
}

}  // namespace
}  // namespace rankfault::testing
