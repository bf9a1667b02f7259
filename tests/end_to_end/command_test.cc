// command_test: jobs that one command starts, in scenarios and under watch: a script around a launcher, a
// program that starts its ranks itself. Ranks are who they tell their library they are.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/support/mpirun_of.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Command : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
      ::setenv(name, "1", 1);
  }
  // `command`: the words, as YAML. `fault`: a YAML flow map.
  ToolRun run(int ranks, const std::string& command, const std::string& fault, const std::string& expect) {
    const std::string file = scratch_.write(
        "job.yaml", "version: 1\nname: job\nworkload:\n  launcher: command\n  ranks: " +
                        std::to_string(ranks) + "\n  command: " + command +
                        "\n  limits: {wall: 60s}\nfaults:\n  - " + fault + "\nexpect:\n" + expect);
    return run_tool({"run", file, "--run-dir", scratch_.file("run")});
  }
  ToolRun watch(const std::vector<std::string>& job) {
    std::vector<std::string> args{"watch", "--run-dir", scratch_.file("run"), "--"};
    args.insert(args.end(), job.begin(), job.end());
    return run_tool(args);
  }
  Scratch scratch_;
};

TEST_F(Command, AScriptThatStartsRanksIsKilledInOneOfThem) {
  const ToolRun tool =
      run(3,
          "[sh, -c, 'for r in 0 1 2; do RANK=$r WORLD_SIZE=3 {bin}/gloo_all_reduce --store={store} --steps=6 "
          "--timeout=1s & done; wait']",
          "{id: kill, kind: rank_kill, ranks: [1], at: {op: all_reduce, nth: 3}}",
          "  - blamed: {kind: dead_rank, ranks: [1], op: all_reduce}\n  - unblocked: {ranks: survivors, "
          "within: 20s}\n"
          "  - left_nothing\n");
  EXPECT_EQ(tool.status, 0) << tool.output;
}

TEST_F(Command, AnMpirunInAScriptIsKilledInOneRank) {
  const std::string mpirun = mpirun_of("OpenMpi4");
  if (!have_program(mpirun)) GTEST_SKIP() << "no OpenMpi4";
  const ToolRun tool = run(2,
                           "[sh, -c, '" + mpirun + " --oversubscribe -np 2 " + mpi_programs_of("OpenMpi4") +
                               "/mpi_steps --steps=10']",
                           "{id: kill, kind: rank_kill, ranks: [1], at: {op: all_reduce, nth: 3}}",
                           "  - blamed: {kind: dead_rank, ranks: [1], op: all_reduce}\n");
  EXPECT_EQ(tool.status, 0) << tool.output;
}

// The scenario says how many ranks there are; a rank that never comes is named.
TEST_F(Command, AVictimThatDoesNotExistIsNamed) {
  const ToolRun tool =
      run(3, "[sh, -c, 'RANK=0 WORLD_SIZE=1 {bin}/gloo_all_reduce --store={store} --steps=3']",
          "{id: kill, kind: rank_kill, ranks: [2], at: {op: all_reduce}}",
          "  - blamed: {kind: dead_rank, ranks: [2]}\n");
  EXPECT_EQ(tool.status, 2) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("no process of the job said that it is rank 2; the job has rank 0"));
}

class TorchCommand : public Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    if (python().empty()) GTEST_SKIP() << "no recorded PyTorch (RANKFAULT_PYTHON)";
    ::setenv("OMP_NUM_THREADS", "1", 1);
  }
  std::string spawned() const { return source_dir() + "/tests/ranks/torch/spawned.py"; }
  // A script that starts a torchrun, which restarts its two ranks once. PyTorch 1.13 knows these options only
  // with underscores.
  std::string script(const std::string& body) const {
    const std::string train = scratch_.write("train.py", body);
    return scratch_.write("start.sh", fmt::format("export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1\n"
                                                  "exec {} --nproc_per_node=2 --max_restarts=1 {}\n",
                                                  fmt::join(torchrun(), " "), train));
  }
};

constexpr const char* kTrains =
    "import os, sys, torch, torch.distributed as dist\n"
    "dist.init_process_group('gloo')\n"
    "for step in range(6):\n"
    "    if os.environ.get('FAILS') and dist.get_rank() == 1 and step == 3:\n"
    "        try:\n"
    "            raise ValueError('bad batch')\n"
    "        except ValueError:\n"
    "            sys.excepthook(*sys.exc_info())\n"
    "            os._exit(1)\n"  // PyTorch may abort while the interpreter ends with a group: docs/found.md
    "    dist.all_reduce(torch.ones(2))\n"
    "dist.destroy_process_group()\n";

// torch.multiprocessing.spawn: no process has a RANK.
TEST_F(TorchCommand, RanksAreWhoTheyTellTheLibraryTheyAre) {
  const ToolRun tool = run(3, "[\"" + python() + "\", \"" + spawned() + "\", --how, anew]",
                           "{id: kill, kind: rank_kill, ranks: [2], at: {op: all_reduce, nth: 2}}",
                           "  - blamed: {kind: dead_rank, ranks: [2], op: all_reduce}\n");
  EXPECT_EQ(tool.status, 0) << tool.output;
}

TEST_F(TorchCommand, ATorchrunInAScriptCountsItsOwnRestarts) {
  const ToolRun tool =
      run(2, "[sh, " + script(kTrains) + "]",
          "{id: kill, kind: rank_kill, ranks: [1], at: {op: all_reduce, nth: 3, attempt: 0}}",
          "  - blamed: {kind: dead_rank, ranks: [1]}\n  - finished\n");
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(read_file(scratch_.file("run/journal.ndjson")), HasSubstr("\"attempt\":1"));
}

// The log that tells why: of which rank and attempt, and where it is.
TEST_F(TorchCommand, AFailedRunShowsTheLogOfTheRankThatFailed) {
  ::setenv("FAILS", "1", 1);
  const ToolRun tool =
      run(2, "[sh, " + script(kTrains) + "]",
          "{id: kill, kind: rank_kill, ranks: [0], at: {op: all_reduce, nth: 5}}", "  - finished\n");
  ::unsetenv("FAILS");
  EXPECT_THAT(tool.output,
              HasSubstr("  log     rank 1, attempt 1, exit 1: " + scratch_.file("run/logs/launcher.a0.log")));
  EXPECT_THAT(tool.output, HasSubstr("ValueError: bad batch"));
}

TEST_F(TorchCommand, WatchTellsTheAttemptsOfATorchrunInAScriptApart) {
  ::setenv("FAILS", "1", 1);
  const ToolRun tool = watch({"sh", script(kTrains)});
  ::unsetenv("FAILS");
  EXPECT_EQ(tool.status, 1) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("exited_rank: rank 1"));
  EXPECT_THAT(tool.output, Not(HasSubstr("duplicate_rank")));
  EXPECT_THAT(read_file(scratch_.file("run/journal.ndjson")), HasSubstr("\"attempt\":1"));
}

}  // namespace
}  // namespace rankfault::test
