// start_otherwise_test: what the launcher starts when a fault changes the start of a rank.
#include <filesystem>

#include "harness/launch/start_faults.h"
#include "tests/launch/fixture.h"

namespace rankfault::test {
namespace {

using ::testing::ElementsAre;

class StartOtherwise : public ::testing::Test {
 protected:
  StartOtherwise() {
    for (int rank = 0; rank < 3; ++rank) {
      LaunchItem item;
      item.rank = rank;
      item.command.env = {{"RANK", std::to_string(rank)}, {"WORLD_SIZE", "3"}};
      item.command.stdout_path = "log-" + std::to_string(rank);
      items_.push_back(item);
    }
  }
  ~StartOtherwise() override { std::filesystem::remove_all(run_->tmp()); }

  void start(const std::string& how, int64_t as = 0, int attempt = 0) {
    Action action;
    action.outside = "start";
    action.rank = 1;
    action.path = how;
    action.size = as;
    action.env = env_;
    action.delay = std::chrono::seconds(2);
    plan_.actions = {action};
    start_otherwise({plan_, *run_, attempt, "", "", {}}, items_);
  }
  std::vector<int> ranks() const {
    std::vector<int> out;
    for (const LaunchItem& item : items_) out.push_back(item.rank);
    return out;
  }

  Scratch scratch_;
  Result<RunDir> run_ = RunDir::create(scratch_ / "run", "start");
  Plan plan_;
  std::map<std::string, std::string> env_;
  std::vector<LaunchItem> items_;
};

TEST_F(StartOtherwise, NeverLeavesTheRankOut) {
  start("never");
  EXPECT_THAT(ranks(), ElementsAre(0, 2));
}

TEST_F(StartOtherwise, TwiceStartsItAgainWithALogOfItsOwn) {
  start("twice");
  EXPECT_THAT(ranks(), ElementsAre(0, 1, 2, 1));
  EXPECT_EQ(items_[1].command.stdout_path, "log-1");
  EXPECT_EQ(items_[3].command.stdout_path, "log-1.second");
  EXPECT_EQ(items_[3].command.env["RANK"], "1");
}

TEST_F(StartOtherwise, LateHoldsItBackAndNobodyElse) {
  start("late");
  EXPECT_THAT(ranks(), ElementsAre(0, 1, 2));
  EXPECT_EQ(items_[1].later_by, std::chrono::seconds(2));
  EXPECT_EQ(items_[0].later_by, Duration::zero());
}

TEST_F(StartOtherwise, WrongRankAndSizeAreToldToTheVictimAlone) {
  start("wrong_rank", 2);
  EXPECT_EQ(items_[1].command.env["RANK"], "2");
  EXPECT_EQ(items_[1].command.env["WORLD_SIZE"], "3");
  start("wrong_size", 7);
  EXPECT_EQ(items_[1].command.env["WORLD_SIZE"], "7");
  EXPECT_EQ(items_[0].command.env["WORLD_SIZE"], "3");
}

TEST_F(StartOtherwise, AWrongEnvironmentIsTheVictimsAloneAndWatchedInAll) {
  env_ = {{"WORLD_SIZE", "{ranks}"}, {"DEVICE", "{rank}"}};
  plan_.scenario.workload.ranks = 9;
  start("wrong_env");
  EXPECT_EQ(items_[1].command.env["WORLD_SIZE"], "9");
  EXPECT_EQ(items_[1].command.env["DEVICE"], "1");
  EXPECT_EQ(items_[0].command.env["WORLD_SIZE"], "3");
  for (const LaunchItem& item : items_) EXPECT_THAT(item.watched, ElementsAre("DEVICE", "WORLD_SIZE"));
  EXPECT_TRUE(items_[1].as_others.empty());
  env_ = {{"RANK", "{rank}"}, {"DEVICE", "2"}};
  start("wrong_env");
  EXPECT_THAT(items_[1].as_others, ElementsAre("RANK"));
}

TEST_F(StartOtherwise, LibrariesOfAnotherFolderMustBeThere) {
  const auto there = [&](const std::string& path) {
    env_ = {{"LD_LIBRARY_PATH", path}};
    start("wrong_env");
    return libraries_there({plan_, *run_, 0, scratch_.path(), "", {}});
  };
  EXPECT_TRUE(there("{bin}:/tmp").ok());
  const Status absent = there("/tmp:{bin}/../nccl-0.0.0");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::kMissing);
  EXPECT_THAT(absent.error().message, ::testing::HasSubstr("rank 1 needs its libraries in"));
}

TEST_F(StartOtherwise, ARestartIsAsItShouldBe) {
  start("never", 0, 1);
  EXPECT_THAT(ranks(), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace rankfault::test
