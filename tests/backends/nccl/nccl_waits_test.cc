// Tests of the NCCL decoder's host waits, over a double of libnccl and CUDA: which operations a wait names
// while it lasts, and which it shows complete. The tests identify operations by their number of elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <set>

#include "tests/backends/nccl/nccl_rank.h"

namespace rankfault::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Counts = std::vector<uint64_t>;

class NcclWaits : public NcclRank {
 protected:
  // `end_in`: the function in which the process ends.
  FlightRecord run(const std::string& words, const std::string& end_in = "") {
    const int status = launch("nccl_waits " + words, 2, end_in.empty() ? "" : "DOUBLE_END_IN=" + end_in);
    if (end_in.empty())
      EXPECT_EQ(status, 0) << words;
    else
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << words << ": " << status;
    return record();
  }

  static Counts counts_of(const FlightRecord& record, const std::set<uint64_t>& origins) {
    Counts counts;
    for (const auto& r : record.records(RF_LIB_NCCL))
      if (r.phase == RF_PHASE_ENTER && r.op == RF_OP_ALL_REDUCE && origins.count(RF_ORIGIN(0, r.call)))
        counts.push_back(r.count);
    return counts;
  }
  Counts counts_after(const std::string& words, uint8_t phase) {
    const FlightRecord record = run(words);
    std::set<uint64_t> seen;
    for (const auto& lane : record.lanes)
      for (const auto& r : lane)
        if (r.phase == phase && r.op == RF_OP_NONE) seen.insert(r.where);
    return counts_of(record, seen);
  }
  Counts complete_after(const std::string& words) { return counts_after(words, RF_PHASE_COMPLETE); }
  Counts failed_after(const std::string& words) { return counts_after(words, RF_PHASE_ERROR); }
  // The operations named by the wait in which the process ended.
  Counts named_in(const std::string& function, rf_host_wait tag, const std::string& words) {
    const FlightRecord record = run(words, function);
    if (record.states.empty()) return {};
    const rf_state& s = record.states[0];
    EXPECT_EQ(s.where, RF_INSIDE) << words;
    EXPECT_EQ(s.op, RF_OP_STREAM_WAIT) << words;
    EXPECT_EQ(s.library, RF_LIB_CUDA);
    EXPECT_EQ(s.tag, tag);
    std::set<uint64_t> origins(s.pending, s.pending + 2);
    for (const auto& r : record.lanes[0])
      if (r.phase == RF_PHASE_DETAIL && r.call == s.call) origins.insert(r.where);
    origins.erase(0);
    EXPECT_EQ(s.pending_count, origins.size());
    return counts_of(record, origins);
  }
};

TEST_F(NcclWaits, AStreamThatWasWaitedForShowsWhatWasOnItComplete) {
  EXPECT_THAT(complete_after("sum:A:1 sum:B:2 sum:A:3 sync:A sum:A:4"), ElementsAre(1, 3));
  EXPECT_THAT(complete_after("sum:A:1 sum:B:2 cu_sync:A"), ElementsAre(1));
}

TEST_F(NcclWaits, AnEventShowsWhatWasOnItsStreamBeforeIt) {
  EXPECT_THAT(complete_after("sum:A:1 sum:B:2 record:e:A sum:A:3 sync_event:e"), ElementsAre(1));
  EXPECT_THAT(complete_after("sum:A:1 sum:B:2 record:e:A sum:A:3 query_event:e"), ElementsAre(1));
  EXPECT_THAT(complete_after("sum:A:1 cu_record:e:A sum:A:3 cu_sync_event:e"), ElementsAre(1));
  EXPECT_THAT(complete_after("sum:A:1 record:e:A sum:A:3 cu_query_event:e"), ElementsAre(1))
      << "the runtime's handles are the driver's";
}

TEST_F(NcclWaits, AnEventStandsForTheLastPlaceItWasRecordedAt) {
  EXPECT_THAT(complete_after("sum:A:1 record:e:A sum:B:2 record:e:B query_event:e"), ElementsAre(2));
  EXPECT_THAT(complete_after("sum:A:1 query_event:e"), IsEmpty());
  EXPECT_THAT(complete_after("sum:A:1 record:e:A gone_event:e query_event:e"), IsEmpty());
  EXPECT_THAT(complete_after("sum:A:1 record:e:A cu_gone_event:e query_event:e"), IsEmpty());
}

TEST_F(NcclWaits, AnEventRecordedInACapturedGraphStandsForNothing) {
  EXPECT_THAT(complete_after("sum:A:1 record:e:A capture:A record:e:A query_event:e"), IsEmpty());
}

TEST_F(NcclWaits, AStreamComesAfterTheEventsItAwaits) {
  EXPECT_THAT(complete_after("sum:A:1 record:e:A after:B:e sum:A:2 sum:B:3 sync:B"), ElementsAre(1, 3));
  EXPECT_THAT(complete_after("sum:A:1 cu_record:e:A cu_after:B:e sum:A:2 sum:B:3 sync:B"), ElementsAre(1, 3));
  EXPECT_THAT(complete_after("sum:A:1 record:e:A after:B:e record:f:B after:C:f sync:C"), ElementsAre(1));
  EXPECT_THAT(complete_after("sum:A:1 record:e:A record:f:B after:B:e sync_event:f"), IsEmpty())
      << "the place of f is before the wait";
  EXPECT_THAT(complete_after("sum:A:1 record:e:A after:B:e gone:B sync:B"), IsEmpty())
      << "another stream under the same handle";
}

// One path through the waits of two streams for each other is as good as all paths. Walking all of them would
// not end.
TEST_F(NcclWaits, StreamsThatWaitForEachOtherInEveryStepAreWalkedOnce) {
  EXPECT_THAT(complete_after("steps:1000 sum:C:7 sync:B").size(), 1000u);
  EXPECT_THAT(complete_after("steps:1000 sum:C:7 sync:B sync:B sum:A:5 query:B sync:A"),
              ::testing::Contains(5));
}

// The table has fewer places than that: later operations pass the place of the first.
TEST_F(NcclWaits, AnOperationStaysPendingWhileThousandsOfLaterOnesComplete) {
  const FlightRecord record = run("sum:A:1 events:8000 sum:A:2 sync:A", "cudaStreamSynchronize");
  ASSERT_FALSE(record.states.empty());
  EXPECT_EQ(record.states[0].pending_count, 2u);
  EXPECT_THAT(complete_after("sum:A:1 events:8000 sum:C:3 sync:A sync:C"), ::testing::Contains(3));
}

TEST_F(NcclWaits, TheDeviceShowsWhatIsOnTheDevice) {
  EXPECT_THAT(complete_after("sum:A:1 sum:N:2 device"), ElementsAre(1, 2));
  EXPECT_THAT(complete_after("sum:A:1 device:1 device"), IsEmpty()) << "the communicator is on device 0";
  EXPECT_THAT(complete_after("sum:A:1 context"), IsEmpty()) << "a device has several contexts";
}

TEST_F(NcclWaits, OnlyWhatIsReadBackWasWaitedFor) {
  EXPECT_THAT(complete_after("sum:A:1 sum:N:2 from"), ElementsAre(1)) << "N does not block";
  EXPECT_THAT(complete_after("sum:A:1 to"), IsEmpty());
  EXPECT_THAT(complete_after("sum:A:1 free"), IsEmpty());
  EXPECT_THAT(complete_after("sum:A:1 sum:B:2 async_from:A"), ElementsAre(1));
  EXPECT_THAT(complete_after("sum:A:1 async_from_pinned:A"), IsEmpty());
  EXPECT_THAT(complete_after("sum:A:1 device:1 from"), IsEmpty());
}

TEST_F(NcclWaits, WhatIsAbortedLeavesItsStreamWithoutBeingComplete) {
  EXPECT_THAT(complete_after("sum:A:1 abort sync:A"), IsEmpty());
  EXPECT_THAT(complete_after("sum:A:1 gone:A sync:A"), IsEmpty());
}

TEST_F(NcclWaits, WhatANonBlockingCommunicatorAcceptedIsOnItsStreamOnceItIsIdle) {
  EXPECT_THAT(complete_after("progress sum:A:1 sync:A"), IsEmpty());
  EXPECT_THAT(complete_after("progress sum:A:1 poll sync:A query:A"), IsEmpty());
  EXPECT_THAT(complete_after("progress sum:A:1 idle poll sync:A"), ElementsAre(1));
  EXPECT_THAT(complete_after("progress group sum:A:1 sum:A:2 end sync:A"), IsEmpty());
  EXPECT_THAT(complete_after("progress group sum:A:1 sum:A:2 end poll sync:A device"), IsEmpty());
  EXPECT_THAT(complete_after("progress group sum:A:1 sum:A:2 end idle poll sync:A"), ElementsAre(1, 2));
  EXPECT_THAT(complete_after("progress sum:A:1 record:e:A idle poll sync_event:e"), IsEmpty())
      << "it came on the stream after the event";
}

TEST_F(NcclWaits, WhatWasRefusedAfterItWasAcceptedHasFailed) {
  EXPECT_THAT(failed_after("group sum:A:1 sum:A:2 fails end"), ElementsAre(1, 2));
  EXPECT_THAT(failed_after("progress sum:A:1 group sum:A:2 end fails poll sync:A"), ElementsAre(1, 2));
  EXPECT_THAT(complete_after("progress sum:A:1 group sum:A:2 end fails poll sync:A"), IsEmpty());
  EXPECT_THAT(failed_after("progress sum:A:1 idle poll fails poll"), IsEmpty()) << "it is on its stream";
  EXPECT_EQ(run("fails poll poll").entered(RF_LIB_NCCL).at("async_error"), 1);
}

TEST_F(NcclWaits, AWaitNamesWhatItWaitsForWhileItLasts) {
  EXPECT_THAT(named_in("cudaStreamSynchronize", RF_HOST_WAIT_STREAM, "sum:A:1 sum:B:2 sum:A:3 sync:A"),
              ElementsAre(1, 3));
  EXPECT_THAT(
      named_in("cudaStreamSynchronize", RF_HOST_WAIT_STREAM, "sum:A:1 sum:A:2 sum:A:3 sum:A:4 sync:A"),
      ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(named_in("cudaEventSynchronize", RF_HOST_WAIT_EVENT, "sum:A:1 record:e:A sum:A:2 sync_event:e"),
              ElementsAre(1));
  EXPECT_THAT(named_in("cudaDeviceSynchronize", RF_HOST_WAIT_DEVICE, "sum:A:1 sum:N:2 device"),
              ElementsAre(1, 2));
  EXPECT_THAT(named_in("cudaMemcpy", RF_HOST_WAIT_COPY, "sum:A:1 sum:N:2 to"), ElementsAre(1));
  EXPECT_THAT(named_in("cudaMemcpyAsync", RF_HOST_WAIT_COPY_ASYNC, "sum:A:1 sum:N:2 async_from:N"),
              ElementsAre(2));
  EXPECT_THAT(named_in("cudaFree", RF_HOST_WAIT_FREE, "sum:A:1 sum:N:2 free"), ElementsAre(1, 2));
  EXPECT_THAT(named_in("cuStreamSynchronize", RF_HOST_WAIT_DRIVER_STREAM, "sum:A:1 cu_sync:A"),
              ElementsAre(1));
  EXPECT_THAT(
      named_in("cuEventSynchronize", RF_HOST_WAIT_DRIVER_EVENT, "sum:A:1 cu_record:e:A cu_sync_event:e"),
      ElementsAre(1));
  EXPECT_THAT(named_in("cuCtxSynchronize", RF_HOST_WAIT_DRIVER_CONTEXT, "sum:A:1 context"), ElementsAre(1));
  EXPECT_THAT(named_in("cuMemcpyDtoH_v2", RF_HOST_WAIT_DRIVER_COPY_FROM, "sum:A:1 cu_from"), ElementsAre(1));
}

TEST_F(NcclWaits, AWaitIsARecordFromBeginToEnd) {
  const FlightRecord record = run("sum:A:1 sync:A record:e:A sync_event:e device");
  std::vector<int> tags, ended;
  for (const auto& r : record.records(RF_LIB_CUDA)) {
    if (r.phase == RF_PHASE_ENTER && r.op == RF_OP_STREAM_WAIT) tags.push_back(r.tag_or_result);
    if (r.phase == RF_PHASE_EXIT && r.op == RF_OP_STREAM_WAIT) ended.push_back(r.tag_or_result);
  }
  EXPECT_THAT(tags, ElementsAre(RF_HOST_WAIT_STREAM, RF_HOST_WAIT_EVENT, RF_HOST_WAIT_DEVICE));
  EXPECT_THAT(ended, ElementsAre(0, 0, 0));
}

TEST_F(NcclWaits, WhatNcclWaitsForItselfIsNotTheUsers) {
  const FlightRecord record = run("sum:A:1 own:A");
  EXPECT_EQ(record.entered(RF_LIB_CUDA).count("stream_wait"), 0u);
  EXPECT_THAT(complete_after("sum:A:1 own:A"), IsEmpty());
}

TEST_F(NcclWaits, CopiesThatWaitForNothingLeaveNoRecord) {
  EXPECT_EQ(run("from to free async_from:A").entered(RF_LIB_CUDA).count("stream_wait"), 0u);
}

TEST_F(NcclWaits, WorkInACapturedGraphHidesTheRest) {
  EXPECT_NE(run("capture:A sum:A:1").header.opaque & RF_OPAQUE_COMMUNICATION, 0u);
  EXPECT_EQ(run("sum:A:1").header.opaque & RF_OPAQUE_COMMUNICATION, 0u);
}

}  // namespace
}  // namespace rankfault::test
