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
    EXPECT_THAT(said, HasSubstr("  command " + python_ + " -m torch.distributed.run "));
    EXPECT_THAT(said, HasSubstr("torchrun: error: unrecognized arguments: --colour=blue\n"));
  }

  Scratch scratch_;
  std::string python_, script_;
};

TEST_F(LauncherFails, WatchAndExplainNameIt) {
  const ToolRun tool = run_tool({"watch", "--run-dir", scratch_.file("run"), "--", python_, "-m",
                                 "torch.distributed.run", "--colour=blue", script_});
  EXPECT_EQ(tool.status, 64) << tool.output;
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
  EXPECT_EQ(tool.status, 64) << tool.output;
  expect_named(tool.output);
  const std::string short_form =
      "torchrun ended with exit 2 and no rank of it was recorded "
      "(logs/launcher.a0.log: torchrun: error: unrecognized arguments: "
      "--colour=blue)";
  EXPECT_THAT(result_of(scratch_.file("run")).value("summary", ""), HasSubstr(short_form));
  EXPECT_THAT(read_file(scratch_.file("out.xml")), HasSubstr(short_form));
}

// The fault did not miss its point: there was no job. The run is not void, and no expectation is judged.
TEST_F(LauncherFails, WithAFaultTheRunIsNotVoid) {
  const std::string file = scratch_.write(
      "job.yaml", "version: 1\nname: refused\nworkload:\n  launcher: torchrun\n  ranks: 2\n  torchrun: " +
                      python_ + "\n  command: [" + script_ +
                      "]\nfaults:\n  - {id: kill, kind: rank_kill, ranks: [1], at: {op: all_reduce}}\n" +
                      "expect:\n  - blamed: {kind: dead_rank, ranks: [1]}\n  - finished\nmust_be: void\n");
  const ToolRun tool = run_tool({"run", file, "--run-dir", scratch_.file("run")});
  EXPECT_EQ(tool.status, 64) << tool.output;
  expect_named(tool.output);
  EXPECT_THAT(tool.output, HasSubstr("UNKNOWN"));
  EXPECT_THAT(tool.output, HasSubstr("finished           not judged: no rank of the job was recorded\n"));
  EXPECT_EQ(run_tool({"judge", scratch_.file("run")}).status, 64);
}

TEST_F(LauncherFails, APlanShowsItsWholeCommandItsEnvironmentAndWhoRestarts) {
  const std::string file = scratch_.write(
      "job.yaml",
      "version: 1\nname: planned\nworkload:\n  launcher: torchrun\n  ranks: 2\n  torchrun: " + python_ +
          "\n  launcher_args: [--max-restarts=2]\n  env: {COLOUR: blue, API_KEY: abc}\n  command: [" +
          script_ + ", --steps=3]\nexpect:\n  - finished\n");
  const std::string said = run_tool({"plan", file}).output;
  EXPECT_THAT(said, HasSubstr("command   " + python_ +
                              " -m torch.distributed.run --redirects=3 --standalone "
                              "--nproc_per_node=2 --log_dir=RUN/logs/torchrun.a0 --max-restarts=2 " +
                              script_ + " --steps=3\n"));
  EXPECT_THAT(said, HasSubstr("env       COLOUR=blue\n"));
  EXPECT_THAT(said, HasSubstr("env       API_KEY=***\n"));
  EXPECT_THAT(said, HasSubstr("restarts  0 by rankfault, 2 by torchrun (--max-restarts)\n"));
}

// The same for a script that fails before it starts a rank.
TEST_F(LauncherFails, ACommandIsNamedByItsProgram) {
  const std::string script = scratch_.write("start.sh", "echo 'no such host' >&2\nexit 3\n");
  const ToolRun tool = run_tool({"watch", "--run-dir", scratch_.file("run"), "--", "sh", script});
  EXPECT_EQ(tool.status, 64) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("  command sh " + script + "\n"));
  EXPECT_THAT(tool.output, HasSubstr("sh ended with exit 3 and no rank of it was recorded"));
  EXPECT_THAT(tool.output, HasSubstr("no such host\n"));
}

}  // namespace
}  // namespace rankfault::test
