// Tests of NCCL's own code over the double of CUDA: correct results, hangs, and what ends them, for each
// version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstring>
#include <filesystem>
#include <set>

#include "tests/backends/flight_record.h"
#include "tests/cuda_double/job.h"

namespace rankfault::test {
namespace {

class OverDouble : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "none")
      GTEST_SKIP() << "./dev nccl has not been run: there is no NCCL to run over the double";
  }
  GpulessJob::Ended run(const std::string& name, int ranks = 4,
                        std::map<std::string, std::string> environment = {}) {
    GpulessJob job;
    job.version = GetParam();
    job.ranks = ranks;
    job.words = {name};
    job.environment = std::move(environment);
    return job.run();
  }
  void all_well(const std::string& name, int ranks = 4, std::map<std::string, std::string> environment = {}) {
    const auto ended = run(name, ranks, std::move(environment));
    EXPECT_TRUE(ended.all_exited_0()) << ended.text();
  }
  // Returns the records that the agent made. All ranks must end well.
  std::map<int, FlightRecord> watched(const std::string& name, int ranks) {
    const std::string build = getenv("RANKFAULT_BUILD_DIR");
    char folder[] = "/tmp/rf-cuda_double-XXXXXX";
    const std::string run_dir = mkdtemp(folder);
    std::filesystem::create_directories(run_dir + "/records");
    all_well(name, ranks,
             {{"RANKFAULT_RUN_DIR", run_dir}, {"LD_PRELOAD", build + "/lib/librankfault_agent.so"}});
    auto records = read_flight_records(run_dir);
    std::filesystem::remove_all(run_dir);
    return records;
  }
  // Rank 1 is killed, and all others end well.
  void all_but_one_well(const std::string& name, int ranks = 4,
                        std::map<std::string, std::string> environment = {}) {
    const auto ended = run(name, ranks, std::move(environment));
    for (size_t rank = 0; rank < ended.status.size(); ++rank)
      EXPECT_EQ(ended.status[rank], rank == 1 ? SIGKILL : 0) << ended.text();
  }
};

TEST_P(OverDouble, EveryCollectiveTypeAndReductionGivesTheRightValues) {
  const auto ended = run("values");
  ASSERT_TRUE(ended.all_exited_0()) << ended.text();
  // one launch for a send and a receive in one group, and one launch for every other call
  unsigned long calls = 0, launches = 0, without = 0, other = 0;
  ASSERT_EQ(sscanf(ended.said[0].c_str(), "calls %lu launches %lu without %lu other %lu", &calls, &launches,
                   &without, &other),
            4)
      << ended.text();
  const unsigned long types = GetParam() == "2.22.3" ? 10 : 12;
  EXPECT_EQ(calls, launches + types);
  EXPECT_GT(launches, 17 * types);
  EXPECT_EQ(without, 0u);
  EXPECT_EQ(other, 0u);
}

TEST_P(OverDouble, BothNamesOfAFunctionGoThroughTheModel) {
  GpulessJob job;
  job.version = GetParam();
  job.words = {"values", "pnccl"};
  const auto ended = job.run();
  ASSERT_TRUE(ended.all_exited_0()) << ended.text();
  EXPECT_EQ(ended.said[0], run("values").said[0]) << "the same number of calls and launches";
}

TEST_P(OverDouble, OppositeOrdersOnOneStreamHangUntilAbort) { all_well("order_one_stream"); }
TEST_P(OverDouble, OppositeOrdersOnTwoStreamsPass) { all_well("order_two_streams"); }
TEST_P(OverDouble, OppositeOrdersInOneGroupPass) { all_well("order_one_group"); }
TEST_P(OverDouble, CommunicatorsOfOneGroupMayShareAStream) { all_well("order_shared_stream", 2); }
TEST_P(OverDouble, CommunicatorsOfOneGroupMayCrossTheirStreams) { all_well("order_crossed_streams", 2); }
TEST_P(OverDouble, MemoryOfNcclIsAllocatedRegisteredAndFreed) { all_well("memory", 2); }
TEST_P(OverDouble, AGroupOfSeveralLaunchesAndStreamsGivesRightSums) { all_well("order_large_group"); }
TEST_P(OverDouble, AGroupWaitsForEveryStreamThatItsCallsAreOn) { all_well("order_held_stream"); }
TEST_P(OverDouble, AnAwaitedEventMakesTwoStreamsHangLikeOne) { all_well("order_awaited_event"); }

TEST_P(OverDouble, ASkippedCallLeavesTheOthersPendingAndAbortFreesThem) { all_well("absent_skipped"); }
TEST_P(OverDouble, AKilledRankNeverArrives) { all_but_one_well("absent_killed"); }
TEST_P(OverDouble, ARankKilledBeforeItsEntryIsAtTheHeadNeverArrives) {
  all_but_one_well("absent_killed_enqueued");
}
TEST_P(OverDouble, ARankKilledAfterTheCollectiveHasGivenItsPart) { all_but_one_well("absent_killed_after"); }

TEST_P(OverDouble, NonBlockingCommunicatorsGiveRightSums) { all_well("made_not_blocking"); }
TEST_P(OverDouble, OneRankAloneGetsWhatItGave) { all_well("made_alone", 1); }
TEST_P(OverDouble, SplitCommunicatorsGiveRightSums) { all_well("made_split"); }
TEST_P(OverDouble, OneProcessWithSeveralDevicesGivesRightSums) { all_well("made_init_all", 1); }
TEST_P(OverDouble, ShrinkWithAbortFreesThePendingAndTheChildGoesOn) {
  if (GetParam() == "2.22.3") GTEST_SKIP() << "ncclCommShrink is in NCCL from 2.27 on";
  all_well("made_shrink");
}
TEST_P(OverDouble, RevokeFreesThePendingAndRefusesTheNext) {
  if (GetParam() == "2.22.3") GTEST_SKIP() << "ncclCommRevoke is in NCCL from 2.29 on";
  all_well("made_revoke");
}

// Only the new rank and rank 0 have the id, so the members cannot agree on a number. ncclCommGrow takes no
// sequence number on the parent, although all old ranks call it there.
TEST_P(OverDouble, AGrownCommunicatorHasNoIdentityAndItsParentKeepsItsOrder) {
  if (GetParam() == "2.22.3") GTEST_SKIP() << "ncclCommGrow is in NCCL from 2.29 on";
  const auto records = watched("made_grow", 3);
  ASSERT_EQ(records.size(), 3u);
  for (const auto& [rank, record] : records) {
    ASSERT_EQ(record.comms.size(), rank == 2 ? 1u : 2u) << "rank " << rank;
    const rf_comm& grown = record.comms.back();
    EXPECT_EQ(grown.identity, RF_ID_NONE);
    EXPECT_EQ(grown.size, 3u);
    EXPECT_EQ(grown.rank, rank);
    if (rank == 2) continue;
    const rf_comm& parent = record.comms.front();
    EXPECT_EQ(parent.identity, RF_ID_UNIQUE);
    EXPECT_EQ(parent.size, 2u);
    EXPECT_EQ(parent.id, records.at(0).comms.front().id);
    EXPECT_EQ(parent.completed, 2u) << "a sum before, a sum after";
  }
}

// Only a build from source has NCCL's own headers, with which nccl_build/net_progress.cc is compiled.
TEST_P(OverDouble, OverSocketsWhatWasSentEndsAndDestroyReturns) {
  if (GetParam() == "2.22.3") GTEST_SKIP() << "a proxy that the double can serve is in NCCL from 2.29 on";
  all_well("sockets_destroyed", 3, {{"NCCL_SHM_DISABLE", "1"}});
}
TEST_P(OverDouble, OverSocketsAPendingSumFailsWhenAPeerDies) {
  all_but_one_well("sockets_killed", 2, {{"NCCL_SHM_DISABLE", "1"}});
}

// An abort ends in bounded time, and leaves nothing of the communicator in the process. (./dev bench abort
// prints the whole table.)
class AbortOverDouble : public OverDouble {
 protected:
  void ends_all(const std::string& name, const char* kernels, bool kills = false) {
    const auto ended = run(name, 4, {{"RANKFAULT_CUDA_KERNELS", kernels}});
    for (size_t rank = 0; rank < ended.status.size(); ++rank) {
      if (kills && rank == 3) continue;
      EXPECT_EQ(ended.status[rank], 0) << ended.text();
      int of = 0, threads[2], sockets[2], segments[2];
      const char* said = ended.said[rank].c_str();
      const char* counts = strstr(said, "threads ");
      ASSERT_TRUE(counts && sscanf(said, "abort rank %d", &of) == 1) << ended.text();
      ASSERT_EQ(sscanf(counts, "threads %d %d sockets %d %d segments %d %d", threads, threads + 1, sockets,
                       sockets + 1, segments, segments + 1),
                6)
          << ended.text();
      EXPECT_LE(threads[1], threads[0]) << ended.text();
      EXPECT_LE(sockets[1], sockets[0]) << ended.text();
      EXPECT_EQ(segments[1], 0) << ended.text();
    }
  }
};

TEST_P(AbortOverDouble, InFlight) { ends_all("abort_in_flight", "until_abort"); }
TEST_P(AbortOverDouble, AfterAPeersDeath) { ends_all("abort_after_peer_death", "joined", true); }
TEST_P(AbortOverDouble, OfARevokedCommunicator) {
  if (GetParam() == "2.22.3") GTEST_SKIP() << "ncclCommRevoke is in NCCL from 2.29 on";
  ends_all("abort_revoke", "joined");
}
TEST_P(AbortOverDouble, OfAShrunkCommunicatorAndItsChild) {
  if (GetParam() == "2.22.3") GTEST_SKIP() << "ncclCommShrink is in NCCL from 2.27 on";
  ends_all("abort_shrink", "joined", true);
}
TEST_P(AbortOverDouble, OfTwoCommunicatorsAtOnce) { ends_all("abort_two_at_once", "until_abort"); }

// cudaFree waits for the device, so the first abort waits for the work of the second communicator.
TEST_P(AbortOverDouble, OfTwoCommunicatorsOneAfterTheOtherDoesNotReturn) {
  const auto ended =
      run("abort_two_in_one_order", 4, {{"RANKFAULT_CUDA_KERNELS", "until_abort"}, {"ABORT_LIMIT", "4"}});
  for (size_t rank = 0; rank < ended.status.size(); ++rank) EXPECT_EQ(ended.said[rank], "abort never\n");
}

// NCCL leaks the socket of a peer that never came and, on rank 0, the thread that waits for it.
TEST_P(AbortOverDouble, InInitialisationReturns) { all_well("abort_init"); }

TEST_P(OverDouble, AtOnceCompletesWithoutTheOthers) {
  all_well("kernels_at_once", 2, {{"RANKFAULT_CUDA_KERNELS", "at_once"}});
}
TEST_P(OverDouble, UntilAbortCompletesForNobodyBefore) {
  all_well("kernels_until_abort", 2, {{"RANKFAULT_CUDA_KERNELS", "until_abort"}});
}

TEST_P(OverDouble, NoCommunicatorIsMadeWithoutAFolderToMeetIn) {
  const auto ended = run("made_init_all", 1, {{"RANKFAULT_CUDA_FOLDER", ""}});
  EXPECT_FALSE(ended.all_exited_0());
  EXPECT_THAT(ended.text(), ::testing::HasSubstr("RANKFAULT_CUDA_FOLDER must name the folder"));
}

// Rank 1 is absent on a non-blocking communicator. The others query the stream and the event while the group
// is pending, and wait for them after the abort.
TEST_P(OverDouble, AGroupOfTwoWithOneRankAbsentIsNeverSeenComplete) {
  const auto records = watched("waits_group_of_two", 3);
  ASSERT_EQ(records.size(), 3u);
  for (const auto& [rank, record] : records) {
    std::set<uint64_t> seen;
    int enqueued = 0, all = 0;
    for (const auto& r : record.records(RF_LIB_NCCL))
      if (r.phase == RF_PHASE_COMPLETE) seen.insert(r.where);
    for (const auto& r : record.records(RF_LIB_NCCL)) {
      if (r.phase != RF_PHASE_ENTER || r.op != RF_OP_ALL_REDUCE) continue;
      ++all;
      if (r.comm != 0) continue;
      ++enqueued;
      EXPECT_EQ(seen.count(RF_ORIGIN(0, r.call)), 0u) << "rank " << rank;
    }
    EXPECT_EQ(enqueued, rank == 1 ? 0 : 2);
    EXPECT_EQ(all, enqueued + 20);
    EXPECT_EQ(seen.size(), 20u) << "those of the other communicator";
  }
}

// The loader finds the agent's names before NCCL's. A function that this NCCL lacks is absent under the
// agent, too.
TEST_P(OverDouble, AFunctionThatThisNcclLacksIsAbsentUnderTheAgent) {
  const std::string agent = std::string(getenv("RANKFAULT_BUILD_DIR")) + "/lib/librankfault_agent.so";
  const auto alone = run("newer_name", 2), watched = run("newer_name", 2, {{"LD_PRELOAD", agent}});
  ASSERT_TRUE(alone.all_exited_0()) << alone.text();
  ASSERT_TRUE(watched.all_exited_0()) << watched.text();
  const bool lacks = GetParam() == "2.22.3";
  EXPECT_EQ(alone.said[0], lacks ? "not there\n" : "no error\n");
  EXPECT_EQ(watched.said, alone.said);
}

// This is the same decoder that records NCCL on a GPU.
TEST_P(OverDouble, TheAgentRecordsTheCallsAndChangesNothing) {
  const std::string build = getenv("RANKFAULT_BUILD_DIR");
  if (!std::filesystem::exists(build + "/lib/decoders/nccl.so")) GTEST_SKIP() << "built without nccl.h";
  char name[] = "/tmp/rf-cuda_double-XXXXXX";
  const std::string run_dir = mkdtemp(name);
  std::filesystem::create_directories(run_dir + "/records");
  const auto alone = run("values"),
             watched =
                 run("values", 4,
                     {{"RANKFAULT_RUN_DIR", run_dir}, {"LD_PRELOAD", build + "/lib/librankfault_agent.so"}});
  ASSERT_TRUE(watched.all_exited_0()) << watched.text();
  EXPECT_EQ(alone.said, watched.said);
  const auto records = read_flight_records(run_dir);
  EXPECT_EQ(records.size(), 4u);
  const int types = GetParam() == "2.22.3" ? 10 : 12;
  for (const auto& [rank, record] : records)
    EXPECT_EQ(record.entered(RF_LIB_NCCL).at("all_reduce"), 6 * types);
  std::filesystem::remove_all(run_dir);
}

INSTANTIATE_TEST_SUITE_P(Nccl, OverDouble, ::testing::ValuesIn(newest_nccl_version()), version_name);
INSTANTIATE_TEST_SUITE_P(Soak, OverDouble, ::testing::ValuesIn(older_nccl_versions()), version_name);
INSTANTIATE_TEST_SUITE_P(Nccl, AbortOverDouble, ::testing::ValuesIn(newest_nccl_version()), version_name);
INSTANTIATE_TEST_SUITE_P(Soak, AbortOverDouble, ::testing::ValuesIn(older_nccl_versions()), version_name);

}  // namespace
}  // namespace rankfault::test
