// paths_test: rankfault works in a folder whose path has a blank and a colon, at which the loader splits
// LD_PRELOAD.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Paths : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(home_);
    fs::create_directories(home_ + "/bin");
    for (const char* program : {"rankfault", "rankfault-guardian", "gloo_all_reduce"})
      if (fs::exists(build_dir() + "/bin/" + program))
        fs::create_hard_link(build_dir() + "/bin/" + program, home_ + "/bin/" + program);
    fs::create_directory_symlink(build_dir() + "/lib", home_ + "/lib");
  }
  void TearDown() override { fs::remove_all(home_); }

  ToolRun run(const std::vector<std::string>& args) const {
    return run_tool_at(home_ + "/bin/rankfault", args);
  }

  const Scratch scratch_;
  const std::string home_ = build_dir() + "/paths test: a blank, a colon";
};

TEST_F(Paths, AJobIsRecorded) {
  if (!fs::exists(home_ + "/bin/gloo_all_reduce")) GTEST_SKIP() << "no libgloo";
  fs::create_directory(scratch_.file("store"));
  const ToolRun tool =
      run({"watch", "--ranks", "2", "--run-dir", scratch_.file("run"), "--", home_ + "/bin/gloo_all_reduce",
           "--store=" + scratch_.file("store"), "--steps=3"});
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("nothing is wrong in "));
  EXPECT_THAT(read_file(scratch_.file("run/logs/rank-0.a0.log")), Not(HasSubstr("cannot be preloaded")));
}

TEST_F(Paths, TheLinkIsNoLeftoverOfTheJob) {
  if (!fs::exists(home_ + "/bin/gloo_all_reduce")) GTEST_SKIP() << "no libgloo";
  const ToolRun tool =
      run({"run", "--ranks", "2", "--expect", "left_nothing", "--run-dir", scratch_.file("run"), "--",
           "{bin}/gloo_all_reduce", "--store={store}", "--steps=3"});
  EXPECT_EQ(tool.status, 0) << tool.output;
}

TEST_F(Paths, DoctorSaysHowTheAgentIsLoaded) {
  EXPECT_THAT(run({"doctor"}).output, HasSubstr("LD_PRELOAD is split at the blank"));
  const bool has_blank = fs::canonical(build_dir()).string().find_first_of(" :") != std::string::npos;
  EXPECT_TRUE(has_blank || run_tool({"doctor"}).output.find("LD_PRELOAD is split") == std::string::npos);
}

}  // namespace
}  // namespace rankfault::test
