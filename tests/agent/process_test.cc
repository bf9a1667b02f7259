// Which process gets a record: fork, vfork, exec, threads, ends.
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <random>

#include "tests/agent/agent_run.h"

namespace rankfault::test {
namespace {

TEST(Process, OpensNothingWithoutARunDirectory) {
  AgentRun run;
  run.env.erase("RANKFAULT_RUN_DIR");
  EXPECT_EQ(run.run({"steps", "5"}), 0) << run.out();
  EXPECT_EQ(run.run({"hard_signatures"}), 0);
  EXPECT_EQ(run.run({"marks"}), 10);
  EXPECT_TRUE(run.rings().empty());
}

TEST(Process, OpensNothingWhenItIsNoRankAndNeverCalls) {
  AgentRun run;
  run.env.erase("RANK");
  EXPECT_EQ(run.run({"nothing"}), 0);
  EXPECT_TRUE(run.rings().empty());
}

TEST(Process, IsAMemberWithItsFirstInitialisationAlsoWithoutARankVariable) {
  AgentRun run;
  run.env.erase("RANK");
  EXPECT_EQ(run.run({"steps", "1"}), 0);
  EXPECT_EQ(run.ring().header().stage, uint32_t{RF_STAGE_MEMBER});
  EXPECT_EQ(run.ring().header().rank, 0);
}

TEST(Process, WithARankVariableIsACandidateWithAHeaderOnly) {
  AgentRun run;
  run.env["RANK"] = "3";
  run.env["TORCHELASTIC_RESTART_COUNT"] = "2";
  EXPECT_EQ(run.run({"nothing"}), 0);
  const Ring ring = run.ring();
  EXPECT_EQ(ring.file.size(), RF_HEADER_BYTES);
  EXPECT_EQ(ring.header().stage, uint32_t{RF_STAGE_CANDIDATE});
  EXPECT_EQ(ring.header().rank, 3);
  EXPECT_EQ(ring.header().world_size, 4);
  EXPECT_EQ(ring.header().attempt, 2);
}

TEST(Process, TakesRankfaultsAttemptBeforeTorchs) {
  AgentRun run;
  run.env["RANKFAULT_ATTEMPT"] = "1";
  run.env["TORCHELASTIC_RESTART_COUNT"] = "2";
  EXPECT_EQ(run.run({"nothing"}), 0);
  EXPECT_EQ(run.ring().header().attempt, 1);
}

// Each node counts its own restarts. The rendezvous address is the same for all nodes of an attempt.
TEST(Process, AnAttemptOfSeveralNodesIsARendezvous) {
  AgentRun run;
  run.env["RANKFAULT_RENDEZVOUS"] = "1";
  run.env["MASTER_ADDR"] = "127.0.0.1";
  const auto attempt_at = [&](const char* port, const char* restarts) {
    run.env["MASTER_PORT"] = port;
    run.env["TORCHELASTIC_RESTART_COUNT"] = restarts;
    const auto before = run.rings();
    EXPECT_EQ(run.run({"nothing"}), 0);
    for (const std::string& path : run.rings())
      if (std::find(before.begin(), before.end(), path) == before.end()) return Ring(path).header().attempt;
    return -1;
  };
  EXPECT_EQ(attempt_at("4001", "0"), 0);
  EXPECT_EQ(attempt_at("4001", "0"), 0);
  EXPECT_EQ(attempt_at("4002", "1"), 1);
  EXPECT_EQ(attempt_at("4002", "0"), 1);  // a node that came back
  EXPECT_EQ(attempt_at("4003", "1"), 2);  // an additional node: no node counts that as a restart
  run.env.erase("RANKFAULT_RENDEZVOUS");
  EXPECT_EQ(attempt_at("4004", "1"), 1);
}

TEST(Process, SaysWhichFileItsOutputIs) {
  AgentRun run;
  EXPECT_EQ(run.run({"nothing"}), 0);
  const std::string output = run.ring().header().output;
  EXPECT_TRUE(output.starts_with(run.folder() + "/")) << output;
  EXPECT_TRUE(std::filesystem::is_regular_file(output)) << output;
}

TEST(Process, IsForwardedWhateverTheSignature) {
  AgentRun run;
  EXPECT_EQ(run.run({"hard_signatures"}), 0) << run.out();
}

TEST(Process, FindsItsErrnoAsItWas) {
  AgentRun run;
  EXPECT_EQ(run.run({"keeps_errno"}), 0) << run.out();
}

TEST(Process, FindsNoNameThatNoLibraryHas) {
  AgentRun run;
  EXPECT_EQ(run.run({"asks_for_what_is_not_there"}), 0);
}

TEST(Process, PassesThroughWhenItsDecoderIsMissing) {
  AgentRun run;
  run.env["RANKFAULT_DECODERS"] = "/nonexistent";
  EXPECT_EQ(run.run({"steps", "5"}), 0);
  const Ring ring = run.ring();
  EXPECT_EQ(ring.header().coverage[0].hook, RF_HOOK_NONE);
  EXPECT_STREQ(ring.header().coverage[0].reason, "decoder does not load");
  EXPECT_EQ(ring.header().opaque & RF_OPAQUE_COMMUNICATION, uint32_t{RF_OPAQUE_COMMUNICATION});
}

// The agent looks for unused libraries when the process ends, after all destructors. A look through the
// loader would run the constructors of an ended library again.
TEST(Process, LoadsNoDecoderForANameThatFollowsOthers) {
  AgentRun run;
  EXPECT_EQ(run.run({"follower"}), 1) << "wrapped after the first call of its library alone";
  EXPECT_EQ(run.ring().header().opaque, 0u);
}

TEST(Process, ReportsALibraryWithoutCallsAndDoesNotStartItAgain) {
  AgentRun run;
  run.program = std::string(RF_TEST_DECODERS) + "/../agent_calls_nothing";
  EXPECT_EQ(run.run({}), 0);
  EXPECT_EQ(run.out(), "starts ends ");
  const Ring ring = run.ring();
  EXPECT_EQ(ring.header().coverage[0].library, RF_LIB_NCCL);
  EXPECT_STREQ(ring.header().coverage[0].reason, "no call of it was seen");
}

TEST(ForkedChild, HasARecordOfItsOwnOnceItCalls) {
  AgentRun run;
  ASSERT_EQ(run.run({"fork_that_calls"}), 0) << run.out();
  ASSERT_EQ(run.rings().size(), 2u);
  std::map<int, int> calls_by_exit;
  for (const auto& path : run.rings()) {
    const Ring ring(path);
    calls_by_exit[ring.header().own_exit_status] = ring.count(RF_OP_ALL_REDUCE, RF_PHASE_EXIT);
    EXPECT_STREQ(ring.header().coverage[0].decoder, "fake") << "what the parent knew of its libraries";
  }
  EXPECT_EQ(calls_by_exit, (std::map<int, int>{{0, 1}, {5, 5}}));
}

TEST(ForkedChild, WritesNothingWhenItDoesNotCall) {
  AgentRun run;
  ASSERT_EQ(run.run({"fork_that_does_not_call"}), 3) << run.out();
  EXPECT_EQ(run.ring().header().own_exit_status, 3);
}

TEST(VforkChild, WritesNothingIntoItsParentsRecord) {
  AgentRun run;
  ASSERT_EQ(run.run({"vfork_that_fails"}), 4);
  EXPECT_EQ(run.ring().header().own_exit_status, 4);
  AgentRun killed;
  ASSERT_EQ(killed.run({"vfork_that_fails", "then die"}), 1009);
  EXPECT_EQ(killed.ring().header().own_exit, uint32_t{RF_NOT_EXITED});
}

TEST(Exec, CountsTheImages) {
  AgentRun run;
  ASSERT_EQ(run.run({"exec_itself", "2"}), 0) << run.out();
  ASSERT_EQ(run.rings().size(), 3u);
  for (int i = 0; i < 3; ++i) {
    const Ring ring(run.rings()[static_cast<size_t>(i)]);
    EXPECT_EQ(ring.header().image, i);
    EXPECT_EQ(ring.header().pid, Ring(run.rings()[0]).header().pid);
  }
}

TEST(OwnExit, IsWrittenHoweverTheProcessLeaves) {
  const std::map<std::string, std::pair<uint32_t, int>> ways = {{"return", {RF_EXIT_ON_EXIT, 11}},
                                                                {"exit", {RF_EXIT_ON_EXIT, 12}},
                                                                {"_exit", {RF_EXIT_UNDERSCORE, 13}},
                                                                {"_Exit", {RF_EXIT_UNDERSCORE, 14}},
                                                                {"quick_exit", {RF_EXIT_QUICK, 15}}};
  for (const auto& [how, expected] : ways) {
    AgentRun run;
    EXPECT_EQ(run.run({"ends", how}), expected.second) << how;
    EXPECT_EQ(run.ring().header().own_exit, expected.first) << how;
    EXPECT_EQ(run.ring().header().own_exit_status, expected.second) << how;
    EXPECT_GT(run.ring().header().own_exit_ns, run.ring().header().opened_ns) << how;
  }
  AgentRun run;
  EXPECT_EQ(run.run({"ends", "abort"}), 1000 + SIGABRT);
  EXPECT_EQ(run.ring().header().own_exit, uint32_t{RF_NOT_EXITED});
}

TEST(Threads, HaveALaneEach) {
  AgentRun run;
  run.env["SUBJECT_HOLD"] = "1";
  ASSERT_EQ(run.run({"threads", "8", "500"}), 0);
  const Ring ring = run.ring();
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_ENTER), 4000);
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_EXIT), 4000);
  EXPECT_EQ(ring.comm(0).entered, 4000u);
  EXPECT_EQ(ring.header().lanes_used, 9u);
  EXPECT_EQ(ring.header().partial, 0u);
}

TEST(Threads, ReuseTheLanesOfEndedOnes) {
  AgentRun run;
  ASSERT_EQ(run.run({"threads_in_turn", "200"}), 0);
  const Ring ring = run.ring();
  EXPECT_EQ(ring.header().lanes_used, 2u);
  EXPECT_EQ(ring.lane(1).claims, 200u);
  EXPECT_EQ(ring.state(1).where, RF_ENDED);
  EXPECT_EQ(ring.lane(1).kind, uint32_t{RF_LANE_FREE});
  EXPECT_EQ(ring.count(RF_OP_ALL_REDUCE, RF_PHASE_EXIT), 200);
}

TEST(Threads, BeyondTheLanesShareOneThatIsSaidToBeLossy) {
  AgentRun run;
  run.env["SUBJECT_HOLD"] = "1";
  ASSERT_EQ(run.run({"threads", "80", "20"}), 0);
  const Ring ring = run.ring();
  EXPECT_EQ(ring.header().partial, uint32_t{RF_PARTIAL_LANES});
  EXPECT_GT(ring.lane(RF_MAX_LANES).head, 0u);
}

// A thread is held while it opens the record or the history of a lane. The calls of other threads return, and
// the record says that it is partial.
class Opening : public testing::Test {
 protected:
  uint32_t partial_after(const std::string& held) {
    const int end = run_.run({"calls_while_another_opens", held});
    skipped_ = end == 77;
    EXPECT_TRUE(end == 0 || end == 77) << end << run_.out();
    return skipped_ ? 0 : run_.ring().header().partial;
  }
  AgentRun run_;
  bool skipped_ = false;
};
#define PARTIAL_AFTER(held, bits)                                                              \
  const uint32_t partial = partial_after(held);                                                \
  if (skipped_) GTEST_SKIP() << "the kernel lets no thread answer for another's system calls"; \
  EXPECT_EQ(partial, uint32_t{bits})

TEST_F(Opening, OfTheBodyThatTakesTooLongIsSaid) { PARTIAL_AFTER("1", RF_PARTIAL_LANES); }
TEST_F(Opening, OfTheHeaderThatTakesTooLongIsSaidOnceThereIsOne) {
  run_.env.erase("RANK");
  PARTIAL_AFTER("1", RF_PARTIAL_LANES);
}
TEST_F(Opening, OfALanesHistoryThatTakesTooLongIsSaid) { PARTIAL_AFTER("2", RF_PARTIAL_HISTORY); }

// Kills at random instants: every state is whole, and at most one of all records is torn.
TEST(Killed, LeavesWholeStatesAndAtMostOneTornRecord) {
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    AgentRun run;
    const pid_t pid = run.start({"for_ever"});
    while (run.out().find("running") == std::string::npos) usleep(200);
    usleep(std::uniform_int_distribution<unsigned>(0, 3000)(random));
    kill(pid, SIGKILL);
    EXPECT_EQ(run.wait(pid), 1000 + SIGKILL);
    const Ring ring = run.ring();
    int torn = 0;
    const auto records = ring.records(0, &torn);
    EXPECT_LE(torn, 1);
    ASSERT_FALSE(records.empty());
    const rf_state& s = ring.state(0);
    ASSERT_TRUE(s.where == RF_INSIDE || s.where == RF_OUTSIDE);
    EXPECT_EQ(s.op, RF_OP_ALL_REDUCE);
    EXPECT_EQ(s.count, 8u);
    EXPECT_EQ(uint64_t{s.call}, s.seq + 1) << "init was call 1: fields of two writes would differ";
    EXPECT_NEAR(static_cast<double>(s.seq), static_cast<double>(records.back().seq), 1);
  }
}

class SmallDisk : public testing::Test {
 protected:
  void SetUp() override {
    mkdir("/tmp/rfagent.disk", 0700);
    if (mount("rfagent", "/tmp/rfagent.disk", "tmpfs", 0, "size=96k") != 0)
      GTEST_SKIP() << "cannot mount a tmpfs";
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) umount("/tmp/rfagent.disk");
    rmdir("/tmp/rfagent.disk");
  }
  bool mounted_ = false;
};

TEST_F(SmallDisk, RefusesTheRecordAndTheProcessRunsOn) {
  AgentRun run;
  const std::string folder = "/tmp/rfagent.disk";
  std::filesystem::create_directory(folder + "/records");
  run.env["RANKFAULT_RUN_DIR"] = folder;
  EXPECT_EQ(run.run({"steps", "20"}), 0) << run.out();
  int rings = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/records")) {
    ++rings;
    EXPECT_TRUE(Ring(entry.path()).header().partial & RF_PARTIAL_HISTORY) << "the header says it";
  }
  EXPECT_EQ(rings, 1);
}

TEST(SizeLimit, OfTheUserIsRespectedWithoutASignal) {
  AgentRun run;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = RF_OFF_HISTORY + 1000;
  setrlimit(RLIMIT_FSIZE, &small);
  const int end = run.run({"steps", "20"});
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(end, 0) << run.out();
  const Ring ring = run.ring();
  EXPECT_EQ(ring.header().partial, uint32_t{RF_PARTIAL_HISTORY});
  EXPECT_EQ(ring.lane(0).dropped, 42u);
  EXPECT_EQ(ring.comm(0).completed, 20u) << "the state page is still true";
}

}  // namespace
}  // namespace rankfault::test
