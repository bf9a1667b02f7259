// Tests of the NCCL decoder over a double of libnccl: the record distinguishes enqueued from complete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/backends/nccl/nccl_rank.h"

namespace rankfault::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NcclRecord : public NcclRank {
 protected:
  FlightRecord run(const std::string& args = "") {
    EXPECT_EQ(launch("nccl_streams " + args, 1), 0) << args;
    return record();
  }
};

std::vector<std::string> ops_complete(const FlightRecord& record, bool complete) {
  std::set<uint64_t> seen;
  for (const auto& r : record.records(RF_LIB_NCCL))
    if (r.phase == RF_PHASE_COMPLETE) seen.insert(r.where);
  std::vector<std::string> out;
  for (const auto& r : record.records(RF_LIB_NCCL))
    if (r.phase == RF_PHASE_ENQUEUE && (seen.count(RF_ORIGIN(0, r.call)) != 0) == complete)
      out.push_back(op_name(r.op));
  return out;
}

TEST_F(NcclRecord, CountsEachOperationOnce) {
  const auto entered = run().entered(RF_LIB_NCCL);
  EXPECT_EQ(entered.at("all_reduce"), 5);
  EXPECT_EQ(entered.at("broadcast"), 1) << "ncclBcast calls ncclBroadcast";
  EXPECT_EQ(entered.at("all_gather"), 1);
  EXPECT_EQ(entered.at("send"), 1);
  EXPECT_EQ(entered.at("recv"), 1);
  EXPECT_EQ(entered.at("group"), 2);
  EXPECT_EQ(entered.count("async_error"), 0u) << "a poll without news";
}

// The first communicator of an NCCL program may cover only a part of its job, under any launcher.
TEST_F(NcclRecord, TheLaunchersRankStandsWhereACommunicatorIsSmallerThanTheJob) {
  for (const char* told : {"PMI_RANK=5 PMI_SIZE=8", "SLURM_PROCID=5 SLURM_NTASKS=8"}) {
    ASSERT_EQ(launch("nccl_streams", 1, "", told), 0);
    const auto by_rank = read_flight_records(run_dir_);
    ASSERT_EQ(by_rank.count(5), 1u) << told;
    EXPECT_EQ(by_rank.at(5).header.world_size, 8) << told;
  }
}

// A communicator of two refutes a world of one, unless this process is both of its members.
TEST_F(NcclRecord, ALauncherThatWasRefutedStaysSo) {
  for (const auto& [words, rank] : {std::pair("nccl_waits", 0), std::pair("nccl_waits group join end", 0),
                                    std::pair("nccl_waits twin", 5)}) {
    ASSERT_EQ(launch(words, 2, "", "PMI_RANK=5 PMI_SIZE=1"), 0);
    EXPECT_EQ(read_flight_records(run_dir_).count(rank), 1u) << words;
  }
}

TEST_F(NcclRecord, CompletionIsWhatAWaitForTheStreamShowed) {
  const FlightRecord record = run();
  EXPECT_THAT(ops_complete(record, true),
              ElementsAre("all_reduce", "all_reduce", "all_reduce", "send", "recv"));
  EXPECT_THAT(ops_complete(record, false), ElementsAre("broadcast", "all_gather", "all_reduce", "all_reduce"))
      << "another stream's, a captured one, one of 0 elements, one after the last wait";
}

TEST_F(NcclRecord, WorkOfAnOpenGroupIsNotYetOnItsStream) {
  EXPECT_THAT(ops_complete(run("--wait-in-group"), true),
              ElementsAre("all_reduce", "all_reduce", "all_reduce"));
}

TEST_F(NcclRecord, NewerFunctionsAreUnderstood) {
  const FlightRecord record = run("--more");
  EXPECT_THAT(ops_complete(record, true), ElementsAre("all_to_all", "gather", "scatter"));
  EXPECT_EQ(record.header.opaque & RF_OPAQUE_COMMUNICATION, 0u);
  EXPECT_EQ(record.entered(RF_LIB_NCCL).at("comm_revoke"), 1);
  ASSERT_EQ(record.comms.size(), 2u);
  EXPECT_EQ(record.comms[0].identity, RF_ID_UNIQUE);
  EXPECT_EQ(record.comms[0].completed, 4u) << "with its end";
  EXPECT_EQ(record.comms[1].identity, RF_ID_NONE) << "grown: its members share no number";
  EXPECT_EQ(record.comms[1].entered, 2u);
}

TEST_F(NcclRecord, EnqueuedGoesAheadOfCompleted) {
  const FlightRecord record = run();
  ASSERT_EQ(record.comms.size(), 2u);
  const rf_comm& comm = record.comms[0];
  EXPECT_EQ(comm.identity, RF_ID_UNIQUE);
  EXPECT_EQ(comm.size, 1u);
  EXPECT_EQ(record.comms[1].parent, comm.id);
  EXPECT_EQ(record.comms[1].entered, 2u) << "one all_reduce and its end";
  uint64_t complete = 0;
  for (const auto& r : record.records(RF_LIB_NCCL)) {
    if (r.phase == RF_PHASE_COMPLETE && r.comm == 0) complete = std::max(complete, r.seq);
    if (r.phase == RF_PHASE_ENTER && r.op == RF_OP_ALL_REDUCE && r.count == 0) {
      EXPECT_EQ(r.seq, 0u) << "0 elements";
    }
  }
  EXPECT_EQ(complete, 3u);
}

TEST_F(NcclRecord, AnOperationTellsItsStreamApart) {
  EXPECT_EQ(launch("nccl_waits sum:A:1 sum:B:2 sum:A:3 gone:A sum:A:4", 2), 0);
  std::vector<int> streams;
  for (const auto& r : record().records(RF_LIB_NCCL))
    if (r.phase == RF_PHASE_ENTER && r.op == RF_OP_ALL_REDUCE) streams.push_back(r.tag_or_result);
  ASSERT_EQ(streams.size(), 4u);
  EXPECT_EQ(std::count(streams.begin(), streams.end(), 0), 0);
  EXPECT_EQ(streams[0], streams[2]);
  EXPECT_NE(streams[0], streams[1]);
  EXPECT_NE(streams[0], streams[3]) << "the handle may be another stream's by now";
}

// A default stream has the same handle on all devices, and is a different stream on each.
TEST_F(NcclRecord, ADefaultStreamIsAnotherOneOnEachDevice) {
  for (const std::string s : {"0", "L", "T"}) {
    EXPECT_EQ(launch("nccl_waits sum:" + s + ":1 device:1 join sum:" + s + ":2 sync:" + s +
                         " device:0 sum:" + s + ":3",
                     2),
              0);
    const FlightRecord seen = record();
    std::vector<int> streams;
    std::vector<uint64_t> origins, complete;
    for (const auto& r : seen.records(RF_LIB_NCCL)) {
      if (r.phase == RF_PHASE_ENTER && r.op == RF_OP_ALL_REDUCE) {
        streams.push_back(r.tag_or_result);
        origins.push_back(RF_ORIGIN(0, r.call));
      }
      if (r.phase == RF_PHASE_COMPLETE) complete.push_back(r.where);
    }
    ASSERT_EQ(streams.size(), 3u);
    EXPECT_NE(streams[0], 0);
    EXPECT_NE(streams[0], streams[1]) << s << ": on devices 0 and 1";
    EXPECT_EQ(streams[1], streams[2]) << s << ": the device is the communicator's";
    EXPECT_THAT(complete, ElementsAre(origins[1])) << s << ": the wait was for device 1";
  }
}

// NCCL_COMM_BLOCKING overrides the setting of the program. The order on a stream then differs from the order
// of the calls.
TEST_F(NcclRecord, AVariableMakesCommunicatorsNonblocking) {
  for (const auto& [variable, known] :
       {std::pair("NCCL_COMM_BLOCKING=0", false), std::pair("NCCL_COMM_BLOCKING=1", true)}) {
    EXPECT_EQ(launch("nccl_waits sum:A:1", 2, variable), 0);
    int operations = 0;
    for (const auto& r : record().records(RF_LIB_NCCL)) {
      if (r.phase != RF_PHASE_ENTER || r.op != RF_OP_ALL_REDUCE) continue;
      ++operations;
      EXPECT_EQ(r.tag_or_result != 0, known) << variable;
    }
    EXPECT_EQ(operations, 1);
  }
}

TEST_F(NcclRecord, AnInitialisationTellsWhatItJoins) {
  EXPECT_EQ(launch("nccl_waits sum:A:1", 2), 0);
  const FlightRecord seen = record();
  ASSERT_FALSE(seen.comms.empty());
  int joins = 0;
  for (const auto& r : seen.records(RF_LIB_NCCL)) {
    if (r.phase != RF_PHASE_ENTER || r.op != RF_OP_COMM_CREATE) continue;
    ++joins;
    EXPECT_EQ(r.tag_or_result, RF_TAG_OF_ID(seen.comms[0].id));
    EXPECT_EQ(r.count, 2u);
    EXPECT_EQ(r.peer, 0);
  }
  EXPECT_EQ(joins, 1);
}

TEST_F(NcclRecord, EverythingTheProgramUsesIsUnderstood) {
  const FlightRecord record = run();
  EXPECT_EQ(record.header.opaque & RF_OPAQUE_RMA, 0u);
  EXPECT_NE(record.header.opaque & RF_OPAQUE_COMMUNICATION, 0u) << "one is in a captured graph";
  EXPECT_STREQ(record.header.coverage[0].decoder, "nccl");
  EXPECT_EQ(record.header.rank, 0);
}

}  // namespace
}  // namespace rankfault::test
