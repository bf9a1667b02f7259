// bad_host_test: a machine that refuses what a run needs, and a job that damages its own run directory. The
// job is not affected, and the tool says what it lost, or why it launches nothing.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "tests/end_to_end/jobs.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::set<std::string> job_folders() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/tmp"))
    if (entry.path().filename().string().starts_with("rf.")) names.insert(entry.path());
  return names;
}

// A shell job of two ranks that no library reports.
std::string shell_job(const std::string& script) {
  return "version: 1\nname: shell\nworkload:\n  launcher: local\n  ranks: 2\n  limits: {wall: 20s}\n"
         "  command: [sh, \"-c\", '" +
         script + "']\nexpect:\n  - finished\n";
}

class BadHost : public testing::Test {
 protected:
  ToolRun run(const std::string& text) {
    return run_tool({"run", scratch_.write("scenario.yaml", text), "--run-dir", run_dir()});
  }
  // Runs the command line of the tool after `before`, in a shell.
  ToolRun run_in_shell(const std::string& before, const std::string& arguments) {
    ToolRun out;
    const std::string file = scratch_.file("output");
    const std::string script =
        "cd " + scratch_.path() + " && " + before + build_dir() + "/bin/rankfault " + arguments;
    scratch_.write("script.sh", script + "\n");
    const int status =
        std::system((shell_ + " " + scratch_.file("script.sh") + " > " + file + " 2>&1").c_str());
    out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    out.output = read_file(file);
    return out;
  }
  // From now on scripts run in their own mount namespace.
  bool own_mounts() {
    for (const char* unshare : {"unshare -m", "unshare -Urm"})
      if (std::system((std::string(unshare) + " mount -t tmpfs -o size=64k tmpfs " + scratch_.path() +
                       " >/dev/null 2>&1")
                          .c_str()) == 0) {
        shell_ = std::string(unshare) + " sh";
        return true;
      }
    return false;
  }
  std::string run_dir() const { return scratch_.file("run"); }

  Scratch scratch_;
  std::string shell_ = "sh";
};

TEST_F(BadHost, AJobThatWritesIntoTheJournalMakesItsRunUnknown) {
  const ToolRun tool = run(shell_job("echo no json >> $RANKFAULT_JOB/journal.ndjson; sleep 0.2"));
  EXPECT_EQ(tool.status, 2) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("UNKNOWN"));
  EXPECT_THAT(tool.output, HasSubstr("somebody changed the journal"));
}

TEST_F(BadHost, AJobThatForgesALineOfTheJournalMakesItsRunUnknown) {
  const ToolRun tool =
      run(shell_job("echo \"{\\\"n\\\":9999,\\\"t\\\":1,\\\"ev\\\":\\\"finding\\\",\\\"finding\\\":7}\" >> "
                    "$RANKFAULT_JOB/journal.ndjson; sleep 0.2"));
  EXPECT_EQ(tool.status, 2) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("UNKNOWN"));
}

TEST_F(BadHost, AJobThatRemovesItsRunDirectoryIsUnknownAndNothingElseIsLeft) {
  const std::set<std::string> before = job_folders();
  const ToolRun tool = run(shell_job("test $RANK = 0 || rm -rf $RANKFAULT_JOB; sleep 0.2"));
  EXPECT_EQ(tool.status, 2) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("the job ran, and its run cannot be judged"));
  EXPECT_EQ(job_folders(), before);
}

TEST_F(BadHost, AJobThatStopsTheGuardianIsEndedAtOnceAndTheRunSaysSo) {
  const ToolRun tool = run(shell_job("kill -STOP $PPID; sleep 0.2"));
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("rankfault-guardian was stopped"));
}

TEST_F(BadHost, ADiskWithoutRoomRefusesTheRunAndLeavesNothing) {
  if (!own_mounts()) GTEST_SKIP() << "no right to mount a file system here";
  const ToolRun tool = run_in_shell(
      "mkdir small && mount -t tmpfs -o size=1m tmpfs small && ls /tmp > before && ",
      "watch --ranks 4 --run-dir small/run -- true; code=$?; ls /tmp | diff before - ; ls small; exit $code");
  EXPECT_EQ(tool.status, 71) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("MB left, and this run needs"));
  EXPECT_THAT(tool.output, Not(HasSubstr("rf.")));
  EXPECT_THAT(tool.output, Not(HasSubstr("\nrun\n")));
}

// The ranks fill the disk as soon as they start, and write to a full disk until they end.
TEST_F(BadHost, ADiskThatFillsWhileTheJobRunsCostsNeitherTheJobNorAShortRunAnything) {
  if (!own_mounts()) GTEST_SKIP() << "no right to mount a file system here";
  scratch_.write("scenario.yaml", shell_job("dd if=/dev/zero of=small/filler-$RANK bs=64k 2>/dev/null; sleep "
                                            "0.2; echo said || exit 9; exit 7") +
                                      "  - ended: {exit: 7}\n");
  const ToolRun tool =
      run_in_shell("mkdir small && mount -t tmpfs -o size=4m tmpfs small && ",
                   "run scenario.yaml --run-dir small/run; code=$?; cat small/run/logs/rank-1*; exit $code");
  EXPECT_EQ(tool.status, 1) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("ranks 0 1 ended as expected: 7"));
  EXPECT_THAT(tool.output, HasSubstr("said\n"));
}

TEST_F(BadHost, WhatTheDiskRefusesAtTheEndIsNamed) {
  scratch_.write("scenario.yaml", shell_job("mkdir $RANKFAULT_JOB/result.json.part; sleep 0.2"));
  const ToolRun tool = run_in_shell("", "run scenario.yaml --run-dir run");
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("  lost    open "));
  EXPECT_THAT(tool.output, HasSubstr("result.json.part: Is a directory"));
}

TEST_F(BadHost, AFolderThatCannotBeWrittenIsToldWithTheWayOut) {
  if (!own_mounts()) GTEST_SKIP() << "no right to mount a file system here";
  const ToolRun tool = run_in_shell("mkdir fixed && mount -t tmpfs -o ro tmpfs fixed && cd fixed && ",
                                    "watch --ranks 2 -- true");
  EXPECT_EQ(tool.status, 71) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("Read-only file system"));
  EXPECT_THAT(tool.output, HasSubstr("--runs DIR"));
}

TEST_F(BadHost, ALimitOnTheSizeOfFilesRefusesTheRun) {
  const ToolRun tool = run_in_shell("ulimit -f 100 && ", "watch --ranks 2 --run-dir run -- true");
  EXPECT_EQ(tool.status, 71) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("ulimit -f"));
  EXPECT_FALSE(std::filesystem::exists(run_dir()));
}

TEST_F(BadHost, SixtyFourDescriptorsAreEnoughForEightRanks) {
  scratch_.write("scenario.yaml",
                 gloo_job({.ranks = 8, .expect = "  - blamed: {kind: none}\n  - finished\n"}));
  const ToolRun tool = run_in_shell("ulimit -n 64 && ", "run scenario.yaml --run-dir run");
  EXPECT_EQ(tool.status, 0) << tool.output;
}

TEST_F(BadHost, TooFewDescriptorsForTheRanksRefuseTheRun) {
  const ToolRun tool = run_in_shell("ulimit -n 64 && ", "watch --ranks 60 --run-dir run -- true");
  EXPECT_EQ(tool.status, 71) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("ulimit -Hn"));
}

TEST_F(BadHost, WithoutSharedMemoryAndWithoutAHomeTheRunIsJudgedAllTheSame) {
  if (!own_mounts()) GTEST_SKIP() << "no right to mount a file system here";
  scratch_.write("scenario.yaml", gloo_job({.expect = "  - blamed: {kind: none}\n  - finished\n"}));
  const ToolRun tool = run_in_shell(
      "mkdir none && mount --bind none /dev/shm && mount -o remount,ro,bind /dev/shm && unset HOME && ",
      "run scenario.yaml --run-dir run");
  EXPECT_EQ(tool.status, 0) << tool.output;
}

TEST_F(BadHost, WithNoFolderForSharedMemoryAndAHomeThatCannotBeWrittenTheRunIsJudged) {
  if (!own_mounts()) GTEST_SKIP() << "no right to mount a file system here";
  scratch_.write("scenario.yaml",
                 gloo_job({.ranks = 2, .expect = "  - blamed: {kind: none}\n  - finished\n"}));
  const ToolRun tool = run_in_shell(
      "mkdir dev home && mount -t tmpfs tmpfs dev && for n in null zero random urandom; do touch dev/$n && "
      "mount --bind /dev/$n dev/$n; done && ln -s /proc/self/fd dev/fd && mount --rbind dev /dev && "
      "mount -t tmpfs -o ro tmpfs home && export HOME=$PWD/home && test ! -e /dev/shm && ",
      "run scenario.yaml --run-dir run");
  EXPECT_EQ(tool.status, 0) << tool.output;
}

TEST_F(BadHost, DiagnoseOfWhatIsNeitherARunNorDumpsSaysSo) {
  std::filesystem::create_directory(scratch_.file("folder"));
  scratch_.write("folder/notes.txt", "hello");
  std::filesystem::create_directory(scratch_.file("dumps"));
  scratch_.write("dumps/nccl_trace_rank_0", "");
  scratch_.write("empty", "");
  ASSERT_EQ(std::system(("mkfifo " + scratch_.file("fifo")).c_str()), 0);
  for (const char* name : {"folder", "dumps", "empty", "fifo"}) {
    const ToolRun tool = run_tool({"diagnose", scratch_.file(name)});
    EXPECT_EQ(tool.status, 64) << tool.output;
    EXPECT_THAT(tool.output, HasSubstr("neither a run directory of rankfault nor Flight Recorder dumps"))
        << name;
  }
  EXPECT_THAT(run_tool({"diagnose", scratch_.file("dumps")}).output, HasSubstr("rank 0: dump is empty"));
}

}  // namespace
}  // namespace rankfault::test
