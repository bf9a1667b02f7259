// The launcher `command`, and the words of a plan.
#include <filesystem>

#include "harness/launch/gather.h"
#include "harness/launch/launcher.h"
#include "tests/launch/fixture.h"

namespace rankfault::test {
namespace {

const Launcher& launcher() { return *Catalog<Launcher>::instance().find("command"); }

class CommandLauncher : public GuardianTest {
 protected:
  void SetUp() override {
    GuardianTest::SetUp();
    workload().launcher = LauncherKind::kCommand;
    workload().ranks = 2;
  }
  Workload& workload() { return plan_.scenario.workload; }
  LaunchContext context(int attempt, const std::string& agent) {
    return {plan_, *run_, attempt, "/the/bin", agent, {}};
  }
  Plan plan_;
};

// Ranks are who they say they are, and a torchrun that the command starts counts its own restarts.
TEST_F(CommandLauncher, StartsTheCommandOnceWithTheAgentAndWithoutARank) {
  const std::string agent = "/lib/x86_64-linux-gnu/libm.so.6";
  workload().command = {"sh", "-c",
                        "echo ${RANK-none} ${RANKFAULT_ATTEMPT-none} $LD_PRELOAD {ranks}; test -d {store}"};
  auto items = launcher().items(context(0, agent));
  ASSERT_TRUE(items.ok());
  ASSERT_EQ(items->size(), 1u);
  EXPECT_EQ((*items)[0].rank, -1);
  ASSERT_TRUE(guardian_->spawn(1, (*items)[0].command).ok());
  const auto spawned = wait_for(GuardianEvent::Kind::kSpawned);
  ASSERT_TRUE(spawned);
  const auto end = end_of(spawned->pid);
  ASSERT_TRUE(end);
  EXPECT_EQ(ExitStatus::from_wait_status(end->a).to_string(), "exit 0");
  EXPECT_EQ(read_text(launcher_log(*run_, 0)), "none none " + agent + " 2\n");
}

TEST_F(CommandLauncher, TellsTheAttemptWhereRankfaultRestarts) {
  workload().command = {"true"};
  workload().restarts = 1;
  EXPECT_EQ((*launcher().items(context(1, "/a/agent.so")))[0].command.env.at("RANKFAULT_ATTEMPT"), "1");
}

// A plan shows the words of a run and makes nothing.
TEST_F(CommandLauncher, APlanMakesNoFolder) {
  const RunDir planned = RunDir::planned();
  const LaunchContext context{plan_, planned, 0, "/the/bin", "", {}};
  workload().command = {"{bin}/prog", "{store}", "{run}"};
  const auto items = launcher().items(context);
  ASSERT_TRUE(items.ok());
  EXPECT_EQ((*items)[0].command.argv, (std::vector<std::string>{"/the/bin/prog", "TMP/store.a0", "RUN"}));
  EXPECT_FALSE(std::filesystem::exists("TMP"));
}

}  // namespace
}  // namespace rankfault::test
