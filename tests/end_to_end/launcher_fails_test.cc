// launcher_fails_test: if a launcher ends before any rank started, the tool names it with its exit status and
// its output.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

// A Python that prints the version of its torch, and refuses to run torchrun.
class LauncherFails : public testing::Test {
 protected:
  void SetUp() override {
    python_ = scratch_.write("python3",
                             "#!/bin/sh\n[ \"$1\" = -c ] && { printf 2.13.0; exit; }\n"
                             "echo 'usage: torchrun [-h] training_script'\n"
                             "echo 'torchrun: error: unrecognized arguments: --colour=blue' >&2\nexit 2\n");
    std::filesystem::permissions(python_, std::filesystem::perms::owner_all);
    script_ = scratch_.write("train.py", "print('never run')\n");
  }
  void expect_named(const std::string& said) const {
    EXPECT_THAT(said, HasSubstr("torchrun ended with exit 2 and no rank of it was recorded; the end of "));
    EXPECT_THAT(said, HasSubstr("/logs/launcher.a0.log:\n"));
    EXPECT_THAT(said, HasSubstr("torchrun: error: unrecognized arguments: --colour=blue\n"));
  }

  Scratch scratch_;
  std::string python_, script_;
};

TEST_F(LauncherFails, WatchAndExplainNameIt) {
  const ToolRun tool = run_tool({"watch", "--run-dir", scratch_.file("run"), "--", python_, "-m",
                                 "torch.distributed.run", "--colour=blue", script_});
  EXPECT_EQ(tool.status, 2) << tool.output;
  expect_named(tool.output);
  expect_named(run_tool({"explain", scratch_.file("run")}).output);
}

TEST_F(LauncherFails, TheReportsOfARunNameIt) {
  const std::string file = scratch_.write(
      "job.yaml",
      "version: 1\nname: refused\nsummary: Its launcher refuses it.\nworkload:\n  launcher: torchrun\n"
      "  ranks: 2\n  torchrun: " +
          python_ + "\n  command: [" + script_ + "]\nexpect:\n  - blamed: {kind: none}\n");
  const ToolRun tool =
      run_tool({"run", file, "--run-dir", scratch_.file("run"), "--junit", scratch_.file("out.xml")});
  EXPECT_EQ(tool.status, 2) << tool.output;
  expect_named(tool.output);
  const std::string short_form =
      "torchrun ended with exit 2 and no rank of it was recorded "
      "(logs/launcher.a0.log: torchrun: error: unrecognized arguments: "
      "--colour=blue)";
  EXPECT_THAT(result_of(scratch_.file("run")).value("summary", ""), HasSubstr(short_form));
  EXPECT_THAT(read_file(scratch_.file("out.xml")), HasSubstr(short_form));
}

}  // namespace
}  // namespace rankfault::test
