// calls_test: which call a stack is in, which frames a reader wants, and the JSON of both.
#include "harness/evidence/calls.h"

#include <gmock/gmock.h>

namespace rankfault {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ThreadEvidence thread(std::vector<Frame> frames) {
  ThreadEvidence t;
  t.tid = 1;
  t.state = 'S';
  t.frames = std::move(frames);
  return t;
}

ThreadEvidence mpi_barrier() {
  return thread({{"opal_progress", "libopen-pal.so.40", "libopen-pal.so.40+0x1"},
                 {"PMPI_Barrier", "libmpi.so.40", "libmpi.so.40+0x2"},
                 {"MPI_Barrier", "librankfault_agent.so", "librankfault_agent.so+0x3"},
                 {"sync_all", "program", "sync.c:12"},
                 {"main", "program", "main.c:5"},
                 {"__libc_start_main", "libc.so.6", "libc.so.6+0x4"},
                 {"_start", "program", "program+0x5"}});
}

TEST(Calls, TheOutermostEntryOfALibraryIsTheCall) {
  EXPECT_EQ(call_of(mpi_barrier()).name, "MPI_Barrier");
  EXPECT_EQ(call_of(mpi_barrier()).op, "barrier");
  EXPECT_THAT(own_frames(mpi_barrier(), 3), ElementsAre("sync_all (sync.c:12)", "main (main.c:5)"));
}

TEST(Calls, AThreadThatServesALibraryIsInNoCall) {
  const ThreadEvidence server = thread(
      {{"pthread_cond_wait", "libc.so.6", ""}, {"c10d::ProcessGroupGloo::runLoop", "libtorch_cpu.so", ""}});
  EXPECT_EQ(call_of(server).name, "");
  EXPECT_THAT(own_frames(server, 3), IsEmpty());
}

TEST(Calls, AStrippedLibraryIsInSomeCallOfTheProgram) {
  const ThreadEvidence in_gloo =
      thread({{"", "libgloo.so.0", "libgloo.so.0+0x1"}, {"main", "program", "main.c:5"}});
  EXPECT_EQ(call_of(in_gloo).name, "a call of libgloo.so.0");
  EXPECT_EQ(call_of(in_gloo).op, "wait");
  const ThreadEvidence its_own =
      thread({{"", "libgloo.so.0", "libgloo.so.0+0x1"}, {"start", "libstdc++.so.6", ""}});
  EXPECT_EQ(call_of(its_own).name, "");
}

TEST(Calls, AFunctionInsideOfALibraryIsNoCall) {
  EXPECT_EQ(call_of(thread({{"gloo::transport::tcp::UnboundBuffer::send", "libgloo.so.0", ""}})).name, "");
}

TEST(Calls, EachLibrarysSpellingMeansTheSameOperation) {
  for (const char* spelled : {"MPI_Allreduce", "PMPI_Allreduce", "ncclAllReduce", "gloo::allreduce",
                              "c10d::ProcessGroupGloo::allreduce"})
    EXPECT_EQ(call_of(thread({{spelled, "lib", ""}})).op, "all_reduce") << spelled;
  EXPECT_EQ(call_of(thread({{"ncclGetVersion", "libnccl.so.2", ""}})).name, "");
  EXPECT_EQ(call_of(thread({{"MPI_Comm_rank", "libmpi.so", ""}})).name, "MPI_Comm_rank");
}

TEST(Calls, APendingWaitCountsOnlyWhereNothingElseIsKnown) {
  RankEvidence rank;
  rank.threads = {thread({{"c10d::Work::wait", "libtorch_cpu.so", ""}})};
  EXPECT_THAT(ops_of(rank), ElementsAre("wait"));
  rank.threads.push_back(thread({{"gloo::barrier", "libtorch_cpu.so", ""}}));
  EXPECT_THAT(ops_of(rank), ElementsAre("barrier"));
}

TEST(Calls, AReasonForNoPythonFramesIsGivenOnceForAllRanks) {
  RankEvidence one, other, third;
  one.no_python = other.no_python = "no Python frames: `pip install py-spy`";
  EXPECT_THAT(notes_of({one, other, third}), ElementsAre("no Python frames: `pip install py-spy`"));
  EXPECT_THAT(short_evidence(one), Not(Contains(HasSubstr("pip"))));
}

TEST(EvidenceJson, ReadsBackWhatItWrites) {
  RankEvidence e;
  e.rank = 2;
  e.pid = 77;
  e.command = "program --x";
  e.threads = {mpi_barrier()};
  e.threads[0].python = {{"main", "train.py:3", false}};
  e.sockets = {{"127.0.0.1:1", "127.0.0.1:2", "established", 3, 4}};
  e.no_python = "why";
  const auto back = evidence_from_json(Json::parse(to_json(e).dump()));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, e);
  EXPECT_FALSE(evidence_from_json(Json::object()).ok());
  EXPECT_FALSE(evidence_from_json(Json::parse(R"({"rank": "x"})")).ok());
}

}  // namespace
}  // namespace rankfault
