// Launchers: what they start, with which words and environment, and what they report afterwards.
#include "harness/launch/launcher.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/agent/agent_abi.h"
#include "harness/launch/gather.h"
#include "harness/launch/launchers/mpi_implementation.h"
#include "harness/launch/launchers/preload_words.h"
#include "harness/launch/launchers/torchrun_nodes.h"
#include "harness/launch/own_folders.h"
#include "tests/launch/fixture.h"
#include "tests/support/mpirun_of.h"

namespace rankfault::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const Launcher& launcher(const char* name) { return *Catalog<Launcher>::instance().find(name); }

class LauncherTest : public GuardianTest {
 protected:
  void SetUp() override {
    GuardianTest::SetUp();
    workload().ranks = 2;
  }
  Workload& workload() { return plan_.scenario.workload; }
  LaunchContext context(int attempt = 0) { return {plan_, *run_, attempt, "/the/bin", agent_, preload_}; }
  void launcher_says(const std::string& text) { std::ofstream(launcher_log(*run_, 0)) << text; }
  // Starts everything, waits until all of it has ended, and returns the status of the launcher.
  std::string run(const char* name) {
    auto items = launcher(name).items(context());
    EXPECT_TRUE(items.ok()) << items.error().to_string();
    if (!items.ok()) return "";
    for (const LaunchItem& item : *items) {
      EXPECT_TRUE(guardian_->spawn(++tag_, item.command).ok());
      const auto spawned = wait_for(GuardianEvent::Kind::kSpawned);
      const auto end = spawned ? end_of(spawned->pid) : std::nullopt;
      EXPECT_TRUE(end);
      if (end) last_ = ExitStatus::from_wait_status(end->a);
    }
    EXPECT_TRUE(launcher(name).collect_logs(context()).ok());
    return last_.to_string();
  }
  std::vector<ReportedEnd> reported(const char* name) { return launcher(name).reported(context(), last_); }
  ExitStatus last_;  // of what run() started last
  Plan plan_;
  std::string agent_;
  std::vector<std::string> preload_;
};

TEST_F(LauncherTest, ExpandsItsOwnBracesAndLeavesOthers) {
  EXPECT_EQ(expand("{bin}/x --r={rank}/{ranks} {attempt}", context(3), 1), "/the/bin/x --r=1/2 3");
  EXPECT_EQ(expand("{store}", context(2), 0), run_->tmp() + "/store.a2");
  EXPECT_EQ(expand("{\"json\": {\"rank\": {rank}}} {x", context(), 1), "{\"json\": {\"rank\": 1}} {x");
  EXPECT_EQ(expand("{run}{tmp}", context(), -1), run_->path() + run_->tmp());
  EXPECT_EQ(expand("{rank}", context(), -1), "{rank}");
}

// The rest of the job's TMPDIR belongs to the job.
TEST_F(LauncherTest, KnowsWhichFoldersAreItsOwn) {
  EXPECT_EQ(context(12).cuda_folder(), run_->tmp() + "/" + cuda_folder_name(12));
  for (const char* own : {"store.a0", "cuda.a0", "cuda.a12"}) EXPECT_TRUE(is_own_folder(own)) << own;
  for (const char* theirs : {"cuda.a", "cuda.abc", "cuda.a1x", "cuda.log", "model.pt"})
    EXPECT_FALSE(is_own_folder(theirs)) << theirs;
}

TEST_F(LauncherTest, TheAgentComesFirstAndAnExistingPreloadStays) {
  agent_ = "/a/agent.so";
  preload_ = {"/a/libc.so"};
  workload().env["LD_PRELOAD"] = "/b/jemalloc.so";
  EXPECT_EQ(agent_environment(context())["LD_PRELOAD"], "/a/agent.so:/a/libc.so:/b/jemalloc.so");
  EXPECT_EQ(agent_environment(context())["RANKFAULT_RUN_DIR"], run_->path());
  agent_ = "";
  EXPECT_TRUE(agent_environment(context()).empty());
}

// AddressSanitizer ends a process that preloads it but not as the first library.
TEST_F(LauncherTest, TheAgentComesBehindASanitizer) {
  agent_ = "/a/agent.so";
  workload().env["LD_PRELOAD"] = "/b/libasan.so.8 /b/jemalloc.so";
  EXPECT_EQ(agent_environment(context())["LD_PRELOAD"], "/b/libasan.so.8:/a/agent.so:/b/jemalloc.so");
  EXPECT_EQ(agent_environment(context(), "/b/x.so")["LD_PRELOAD"], "/a/agent.so:/b/x.so");
}

TEST(PreloadWords, TakesTheRanksPreloadFromTheLaunchersWords) {
  using Words = std::vector<std::string>;
  Words open_mpi{"-x", "COLOUR", "-x", "LD_PRELOAD=/b/jemalloc.so", "--bind-to", "none"};
  EXPECT_EQ(take_preload(open_mpi), "/b/jemalloc.so");
  EXPECT_EQ(open_mpi, (Words{"-x", "COLOUR", "--bind-to", "none"}));
  Words hydra{"-genv", "A", "b", "-genv", "LD_PRELOAD", "/b/jemalloc.so", "-env", "LD_PRELOAD", "/c.so"};
  EXPECT_EQ(take_preload(hydra), "/c.so");
  EXPECT_EQ(hydra, (Words{"-genv", "A", "b"}));
  Words inherited{"-x", "LD_PRELOAD", "-v"};
  EXPECT_EQ(take_preload(inherited), std::nullopt);
  EXPECT_EQ(inherited, (Words{"-v"}));
}

TEST_F(LauncherTest, LocalGivesEachRankItsPlace) {
  workload().command = {"sh", "-c", "echo $RANK of $WORLD_SIZE, attempt $RANKFAULT_ATTEMPT; test -d {store}"};
  EXPECT_EQ(run("local"), "exit 0");
  EXPECT_EQ(read_text(rank_log(*run_, 1, 0)), "1 of 2, attempt 0\n");
}

class MpirunTest : public LauncherTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    LauncherTest::SetUp();
    workload().mpirun = mpirun_of(GetParam());
    if (!launcher("mpirun").probe(workload()).ok()) GTEST_SKIP() << "no " << GetParam();
  }
  bool is_mpich() const { return std::string(GetParam()).rfind("Mpich", 0) == 0; }
  std::string rank_variable() const { return is_mpich() ? "$PMI_RANK" : "$OMPI_COMM_WORLD_RANK"; }
};

TEST_P(MpirunTest, GivesTheAgentToTheRanksAndNotToItself) {
  agent_ = "/lib/x86_64-linux-gnu/libm.so.6";
  workload().env["COLOUR"] = "light blue, dark";
  workload().command = {"sh", "-c",
                        "echo " + rank_variable() + " $LD_PRELOAD $COLOUR $RANKFAULT_JOB; echo err >&2"};
  const auto items = launcher("mpirun").items(context());
  ASSERT_TRUE(items.ok());
  EXPECT_EQ((*items)[0].command.env.count("LD_PRELOAD"), 0u);
  EXPECT_EQ((*items)[0].command.env.count("RANKFAULT_RUN_DIR"), 0u);
  EXPECT_EQ(run("mpirun"), "exit 0") << read_text(launcher_log(*run_, 0));
  for (int rank : {0, 1}) {
    const std::string log = read_text(rank_log(*run_, rank, 0));
    EXPECT_THAT(log, HasSubstr(fmt::format("{} {} light blue, dark {}\n", rank, agent_, run_->path())));
    EXPECT_THAT(log, HasSubstr("err\n"));
  }
}

TEST_P(MpirunTest, ReportsARankThatASignalKilled) {
  if (is_mpich()) GTEST_SKIP() << "it may tell of one that it killed itself: HydraTest";
  workload().command = {"sh", "-c", "[ $OMPI_COMM_WORLD_RANK = 1 ] && kill -9 $$; sleep 60"};
  EXPECT_THAT(run("mpirun"), Not("exit 0"));
  const auto ends = reported("mpirun");
  ASSERT_EQ(ends.size(), 1u) << read_text(launcher_log(*run_, 0));
  EXPECT_EQ(ends[0].rank, 1);
  EXPECT_EQ(ends[0].status.to_string(), "SIGKILL");
}

TEST_P(MpirunTest, ReportsARankThatExited) {
  if (is_mpich()) GTEST_SKIP() << "it tells of an exit only after MPI_Init: ReadsHydrasReport";
  workload().command = {"sh", "-c", "[ $OMPI_COMM_WORLD_RANK = 1 ] && exit 3; sleep 60"};
  EXPECT_THAT(run("mpirun"), Not("exit 0"));
  const auto ends = reported("mpirun");
  ASSERT_EQ(ends.size(), 1u) << read_text(launcher_log(*run_, 0));
  EXPECT_EQ(ends[0].rank, 1);
  EXPECT_EQ(ends[0].status.to_string(), "exit 3");
}

// Open MPI 4 may end without its final output.
TEST_F(LauncherTest, ReadsMpirunsStateLines) {
  const auto said = [&](const char* state, ExitStatus launcher) -> std::string {
    launcher_says(
        fmt::format("[vm:7] [[12,0],0] ACTIVATE PROC [[12,1],0] STATE IOF COMPLETE AT a.c:306\n"
                    "[vm:7] [[12,0],0] ACTIVATE PROC [[12,1],13] STATE {} AT b.c:1746\n"
                    "[vm:7] [[12,0],0] ACTIVATE PROC [[12,1],0] STATE ABORTED BY SIGNAL AT b.c:1\n",
                    state));
    last_ = launcher;
    const auto ends = Catalog<MpiImplementation>::instance()
                          .find("Open MPI")
                          ->reported(context(), read_text(launcher_log(*run_, 0)), last_);
    return ends.size() == 1 ? fmt::format("{}: {}", ends[0].rank, ends[0].status.to_string()) : "nothing";
  };
  const auto code = [](int value) { return ExitStatus{ExitStatus::Kind::kCode, value}; };
  EXPECT_EQ(said("ABORTED BY SIGNAL", code(137)), "13: SIGKILL");
  EXPECT_EQ(said("EXITED WITH NON-ZERO STATUS", code(137)), "13: exit 137");
  EXPECT_EQ(said("ABORTED BY SIGNAL", code(1)), "nothing");
  EXPECT_EQ(said("ABORTED BY SIGNAL", {ExitStatus::Kind::kSignal, 9}), "nothing");  // rankfault ended mpirun
}

// The output of MPICH 4.0.2 and 5.0.2, with single blanks.
TEST_F(LauncherTest, ReadsHydrasReport) {
  const auto said = [&](const std::string& code, const std::string& more) -> std::string {
    const auto ends = Catalog<MpiImplementation>::instance().find("MPICH")->reported(
        context(),
        " ===== = BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES = PID 12675 RUNNING AT vm = EXIT "
        "CODE: " +
            code +
            " = CLEANING UP REMAINING PROCESSES = YOU CAN IGNORE THE BELOW CLEANUP MESSAGES ===== " + more,
        {});
    return ends.size() == 1 ? fmt::format("{}: {}", ends[0].pid, ends[0].status.to_string()) : "nothing";
  };
  EXPECT_EQ(said("3", ""), "12675: exit 3");
  EXPECT_EQ(said("9", "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9) This typically"),
            "12675: SIGKILL");
  EXPECT_EQ(said("139", "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)"),
            "12675: SIGSEGV");
}

TEST_F(LauncherTest, AnMpirunOfAnotherMakeIsNotUsed) {
  const std::string other = scratch_ / "mpirun";
  std::ofstream(other) << "#!/bin/sh\necho 'Intel(R) MPI Library for Linux* OS, Version 2021.1'\n";
  ::chmod(other.c_str(), 0755);
  workload().mpirun = other;
  const Status status = launcher("mpirun").probe(workload());
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().to_string(), HasSubstr("Open MPI 4 or 5 or MPICH 4 or 5 is needed"));
}

class HydraTest : public MpirunTest {};

// Hydra kills the other processes and reports one of all of them, by its pid. If no process has come far
// enough to be waited for, Hydra may end on its own assertion and report none.
TEST_P(HydraTest, ReportsAProcessThatASignalKilled) {
  const std::string here = scratch_.path() + "/rank.";
  workload().command = {"sh", "-c",
                        "echo $$; touch " + here +
                            "$PMI_RANK; [ $PMI_RANK = 1 ] || exec sleep 60; until [ -e " + here +
                            "0 ]; do sleep 0.01; done; kill -9 $$"};
  EXPECT_THAT(run("mpirun"), Not("exit 0"));
  const auto ends = reported("mpirun");
  ASSERT_EQ(ends.size(), 1u) << read_text(launcher_log(*run_, 0));
  EXPECT_EQ(ends[0].rank, -1);
  EXPECT_THAT((std::vector<std::string>{read_text(rank_log(*run_, 0, 0)), read_text(rank_log(*run_, 1, 0))}),
              Contains(std::to_string(ends[0].pid) + "\n"));
  EXPECT_EQ(ends[0].status.to_string(), "SIGKILL");
}
INSTANTIATE_TEST_SUITE_P(Versions, HydraTest, ::testing::Values("Mpich4", "Mpich5"),
                         [](const auto& tested) { return tested.param; });

INSTANTIATE_TEST_SUITE_P(Versions, MpirunTest, ::testing::Values("OpenMpi4", "OpenMpi5", "Mpich4", "Mpich5"),
                         [](const auto& tested) { return tested.param; });

TEST_F(LauncherTest, ReadsTorchrunsReport) {
  launcher_says(
      "E1121 failed (exitcode: -9) local_rank: 1 (pid: 20153) of binary: /opt/python\n"
      "E1121 failed (exitcode: 1) local_rank: 1 (pid: 20162) of binary: /opt/python\n"
      "Failures:\n[1]:\n  time      : 2026-11-21_12:01:41\n  host      : localhost\n"
      "  rank      : 0 (local_rank: 0)\n  exitcode  : -15 (pid: 20161)  (SIGTERM)\n"
      "Root Cause (first observed failure):\n[0]:\n  rank      : 1 (local_rank: 1)\n"
      "  exitcode  : 1 (pid: 20162) \n");
  const auto ends = reported("torchrun");
  ASSERT_EQ(ends.size(), 3u);
  EXPECT_EQ(ends[0].status.to_string(), "SIGKILL");
  EXPECT_EQ(ends[0].attempt, 0);
  EXPECT_EQ(ends[1].status.to_string(), "exit 1");
  EXPECT_EQ(ends[1].attempt, 1);
  EXPECT_EQ(ends[2].rank, 0);
  EXPECT_EQ(ends[2].status.to_string(), "SIGTERM");
  EXPECT_EQ(ends[2].attempt, 1);
}

TEST_F(LauncherTest, TorchrunStartsWorkersAndCollectsTheirLogs) {
  if (!launcher("torchrun").probe(workload()).ok()) GTEST_SKIP() << "no torchrun";
  const std::string script = scratch_ / "job.py";
  std::ofstream(script) << "import os, sys\nr = os.environ['RANK']\nprint('rank', r, os.environ['TMPDIR'])\n"
                           "sys.exit(4 if r == '1' else 0)\n";
  workload().command = {"python3", script};
  workload().launcher_args = {"--max_restarts=1"};
  EXPECT_EQ(run("torchrun"), "exit 1");
  for (const int attempt : {0, 1})
    EXPECT_EQ(read_text(rank_log(*run_, 1, attempt)), "rank 1 " + run_->tmp() + "\n");
  const auto ends = reported("torchrun");
  ASSERT_EQ(ends.size(), 2u) << read_text(launcher_log(*run_, 0));
  EXPECT_EQ(ends[1].status.to_string(), "exit 4");
  EXPECT_EQ(ends[1].attempt, 1);
}

TEST_F(LauncherTest, EachNodeOfTorchrunHasItsPlaceAndTheFirstHostsTheStore) {
  workload().ranks = 4;
  workload().nodes = 2;
  workload().launcher_args = {"--nnodes=1:2", "--rdzv_conf", "last_call_timeout=9"};
  const auto words = [&](int node) { return node_words(workload(), {4711, nullptr}, node, "/logs"); };
  EXPECT_THAT(words(0), Contains("--rdzv_endpoint=127.0.0.1:4711"));
  EXPECT_THAT(words(0), Contains("--rdzv_conf=last_call_timeout=9,is_host=1"));
  EXPECT_THAT(words(1), Contains("--rdzv_conf=last_call_timeout=9,is_host=0"));
  EXPECT_THAT(words(1), Contains("--nproc_per_node=2"));
  EXPECT_THAT(words(1), Contains("--local_addr=127.0.0.102"));
  const auto all = words(0);  // the last one counts
  EXPECT_LT(std::find(all.begin(), all.end(), "--nnodes=2"),
            std::find(all.begin(), all.end(), "--nnodes=1:2"));
  workload().launcher_args.clear();
  EXPECT_THAT(words(1), Contains("--rdzv_conf=is_host=0"));
}

TEST_F(LauncherTest, NodesRefuseWhatWouldMakeThemOneOrUnknown) {
  workload().nodes = 2;
  EXPECT_TRUE(check_node_arguments(workload()).ok());
  workload().launcher_args = {"--standalone"};
  EXPECT_FALSE(check_node_arguments(workload()).ok());
  workload().launcher_args = {"--rdzv_endpoint=127.0.0.1:1"};
  EXPECT_FALSE(check_node_arguments(workload()).ok());
  workload().launcher_args.clear();
  workload().env["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "0";
  EXPECT_FALSE(check_node_arguments(workload()).ok());
  workload().env.clear();
  workload().ranks = 3;  // from a variant or a ladder
  EXPECT_FALSE(check_node_arguments(workload()).ok());
}

TEST(MeetingPlace, IsHeldForTheStoreThatReusesIt) {
  const auto place = meeting_place();
  ASSERT_TRUE(place.ok());
  const auto listens = [&](bool reuse) {
    const UniqueFd socket(::socket(AF_INET6, SOCK_STREAM, 0));
    const int yes = reuse, no = 0;
    sockaddr_in6 all{};
    all.sin6_family = AF_INET6;
    all.sin6_port = htons(static_cast<uint16_t>(place->port));
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&all), sizeof all) == 0 &&
           ::listen(socket.get(), 1) == 0;
  };
  if (!UniqueFd(::socket(AF_INET6, SOCK_STREAM, 0)).valid()) GTEST_SKIP() << "no IPv6";
  EXPECT_FALSE(listens(false));
  EXPECT_TRUE(listens(true));
}

// Ranks are numbered again when nodes meet again: the folder of a node does not tell which rank's output it
// holds.
TEST_F(LauncherTest, LogsOfNodesAreToldByWhatTheirRanksSay) {
  workload().nodes = 2;
  const auto wrote = [&](int node, int restart, int rank, int attempt, const std::string& text) {
    const std::string folder =
        fmt::format("{}/torchrun.a0/node{}/x_1/attempt_{}/0", run_->logs(), node, restart);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/stdout.log") << text;
    rf_header header{};
    header.magic = RF_RING_MAGIC;
    header.abi_version = RF_ABI_VERSION;
    header.rank = rank;
    header.attempt = attempt;
    (folder + "/stdout.log").copy(header.output, sizeof header.output - 1);
    std::ofstream ring(fmt::format("{}/{}.{}.{}.ring", run_->records(), node, restart, rank),
                       std::ios::binary);
    ring.write(reinterpret_cast<const char*>(&header), sizeof header);
  };
  std::filesystem::create_directories(run_->records());
  wrote(0, 0, 0, 0, "a");
  wrote(1, 0, 1, 0, "b");
  wrote(1, 1, 0, 1, "c");  // node 1 alone: its rank is now rank 0
  ASSERT_TRUE(launcher("torchrun").collect_logs(context()).ok());
  EXPECT_EQ(read_text(rank_log(*run_, 0, 0)), "a");
  EXPECT_EQ(read_text(rank_log(*run_, 1, 0)), "b");
  EXPECT_EQ(read_text(rank_log(*run_, 0, 1)), "c");
  EXPECT_FALSE(std::filesystem::exists(rank_log(*run_, 1, 1)));
}

class CheckProgram : public ::testing::Test {
 protected:
  std::string check(const std::string& program, bool needs_agent = true) {
    const SourcePos where{"job.yaml", 4, 12};
    const Status status =
        check_program(program, {{"PATH", "/usr/bin:/bin"}}, scratch_.path(), needs_agent, where);
    return status.ok() ? "" : status.error().to_string();
  }
  std::string make(const std::string& name, const std::string& text, int mode) {
    std::ofstream(scratch_ / name) << text;
    ::chmod((scratch_ / name).c_str(), static_cast<mode_t>(mode));
    return scratch_ / name;
  }
  Scratch scratch_;
};

TEST_F(CheckProgram, AcceptsProgramsAndScripts) {
  EXPECT_EQ(check("sh"), "");
  EXPECT_EQ(check(subject()), "");
  EXPECT_EQ(check(make("a.sh", "#!/bin/sh\n", 0755)), "");
  EXPECT_EQ(check(make("b.sh", "#!/usr/bin/env sh\n", 0755)), "");
  EXPECT_EQ(check("./a.sh"), "");  // relative to the directory of the workload
}

TEST_F(CheckProgram, SaysWhereAndWhatIsMissing) {
  EXPECT_EQ(check("no-such-program"), "job.yaml:4:12: no-such-program: not found on PATH");
  EXPECT_EQ(check("/no/such"), "job.yaml:4:12: /no/such: No such file or directory");
  EXPECT_THAT(check("/tmp"), HasSubstr("is a directory"));
  EXPECT_THAT(check(make("plain", "#!/bin/sh\n", 0644)), HasSubstr("cannot be executed (its mode is 644)"));
  EXPECT_THAT(check(make("c.sh", "#!/no/such/interpreter\n", 0755)), HasSubstr("/no/such/interpreter"));
  EXPECT_THAT(check(make("d.sh", "#!/usr/bin/env nosuchthing\n", 0755)), HasSubstr("nosuchthing"));
  EXPECT_THAT(check(make("text", "hello\n", 0755)), HasSubstr("neither an ELF program nor a script"));
}

TEST_F(CheckProgram, AStaticProgramCannotCarryTheAgent) {
  const std::string program = bin_dir() + "/launch_static";
  EXPECT_THAT(check(program), HasSubstr("the agent cannot be loaded into a statically linked program"));
  EXPECT_EQ(check(program, false), "");
}

}  // namespace
}  // namespace rankfault::test
