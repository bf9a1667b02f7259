// oom_kills: the counts of the kernel, as files in a folder of the test.
#include "harness/live/oom_kills.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/tool.h"

namespace rankfault {
namespace {

class OomKillsTest : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = scratch_.path() + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void v1(const std::string& kills) const {
    write("sys/fs/cgroup/memory/job/memory.oom_control",
          "oom_kill_disable 0\nunder_oom 0\noom_kill " + kills + "\n");
  }
  test::Scratch scratch_;
  OomKills kills_{scratch_.path()};
};

TEST_F(OomKillsTest, ACountThatRoseExplainsOneEnd) {
  write("proc/7/cgroup", "5:devices:/\n4:cpu,memory:/job\n0::/\n");
  write("proc/8/cgroup", "4:cpu,memory:/job\n");
  v1("3");
  kills_.watch(7);
  kills_.watch(8);
  EXPECT_EQ(kills_.take(7), "") << "three kills before the job are not news";
  v1("4");
  EXPECT_EQ(kills_.take(7), "memory group /job");
  EXPECT_EQ(kills_.take(8), "") << "the launcher killed this one";
}

TEST_F(OomKillsTest, TheCountOfVersionTwo) {
  write("proc/7/cgroup", "0::/user.slice/job\n");
  write("sys/fs/cgroup/user.slice/job/memory.events", "low 0\noom 1\noom_kill 0\noom_group_kill 0\n");
  kills_.watch(7);
  write("sys/fs/cgroup/user.slice/job/memory.events", "low 0\noom 2\noom_kill 1\noom_group_kill 0\n");
  EXPECT_EQ(kills_.take(7), "memory group /user.slice/job");
}

TEST_F(OomKillsTest, WithoutAMemoryGroupTheCountOfTheMachine) {
  write("proc/7/cgroup", "0::/job\n");  // has no memory.events: the controller is off
  write("proc/vmstat", "nr_free_pages 5\noom_kill 0\n");
  kills_.watch(7);
  EXPECT_EQ(kills_.take(7), "");
  write("proc/vmstat", "nr_free_pages 5\noom_kill 1\n");
  EXPECT_EQ(kills_.take(7), "this machine");
}

TEST_F(OomKillsTest, NothingIsKnownWithoutCounts) {
  kills_.watch(7);
  write("proc/vmstat", "oom_kill 5\n");
  EXPECT_EQ(kills_.take(7), "");
}

}  // namespace
}  // namespace rankfault
