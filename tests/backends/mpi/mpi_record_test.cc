// Tests of the MPI decoders on whole jobs: the record against the program's own book.
#include "tests/backends/mpi/mpi_record.h"

#include "harness/agent/named_calls.h"

namespace rankfault::test {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;

INSTANTIATE_TEST_SUITE_P(Versions, MpiRecord,
                         ::testing::Values("OpenMpi4", "OpenMpi5", "Mpich4", "Mpich5", "MpiStandard"),
                         [](const auto& which) { return which.param; });

TEST_P(MpiRecord, CountsEqualTheProgramsOwnForEveryOp) {
  const JobEnd end = run({"mpi_all_ops"});
  ASSERT_EQ(end.status, 0) << end.err;
  ASSERT_EQ(end.books.size(), 4u) << end.out;
  ASSERT_EQ(records_.size(), 4u);
  for (const auto& [rank, record] : records_)
    EXPECT_EQ(record.entered(RF_LIB_MPI), own_book(end.books.at(rank))) << "rank " << rank;
}

TEST_P(MpiRecord, CountsEqualTheProgramsOwnOverManySteps) {
  const JobEnd end = run({"mpi_steps", "--steps=300"}, 3);
  ASSERT_EQ(end.status, 0) << end.err;
  ASSERT_EQ(records_.size(), 3u);
  for (const auto& [rank, record] : records_) {
    EXPECT_EQ(record.entered(RF_LIB_MPI), own_book(end.books.at(rank))) << "rank " << rank;
    EXPECT_EQ(record.comms.at(0).entered, 300u * 2 + 60 + 2) << "with the barrier and finalize";
  }
}

// Packed bytes may be received as any type: the record compares their bytes only.
TEST_P(MpiRecord, PackedBytesAreOfNoType) {
  const JobEnd end = run({"mpi_packed"}, 2);
  ASSERT_EQ(end.status, 0) << end.err;
  std::map<int, std::pair<int, uint64_t>> given;  // rank -> type and count
  for (const auto& [rank, record] : records_)
    for (const rf_record& r : record.records(RF_LIB_MPI))
      if (r.op == RF_OP_BROADCAST && r.phase == RF_PHASE_ENTER) given[rank] = {r.dtype, r.count};
  EXPECT_EQ(given[0], std::make_pair(int{RF_DTYPE_OTHER}, uint64_t{40}));
  EXPECT_EQ(given[1], std::make_pair(int{RF_DTYPE_INT32}, uint64_t{10}));
}

// The size of this type does not fit into an int.
TEST_P(MpiRecord, ATypeBeyond2GiBHasItsSize) {
  const JobEnd end = run({"mpi_huge_type"}, 1);
  ASSERT_EQ(end.status, 0) << end.err;
  ASSERT_EQ(records_.size(), 1u);
  uint64_t bytes = 0;
  for (const rf_record& r : records_.at(0).records(RF_LIB_MPI))
    if (r.op == RF_OP_BROADCAST && r.phase == RF_PHASE_ENTER) bytes = r.count;
  EXPECT_EQ(bytes, uint64_t{2200} << 20);
}

// For MPI-IO and one-sided communication the record holds the name of the call and its communicator.
TEST_P(MpiRecord, FilesAndWindowsAreRecordedByTheirNames) {
  const JobEnd end = run({"mpi_files_and_windows", run_dir_ + "/shared-file"}, 2);
  ASSERT_EQ(end.status, 0) << end.err;
  ASSERT_EQ(records_.size(), 2u);
  for (const auto& [rank, record] : records_) {
    std::map<std::pair<int, uint32_t>, int> entered;  // (which call, on which communicator) -> how often
    int left = 0;
    for (const rf_record& r : record.records(RF_LIB_MPI)) {
      if (!rf_is_named(r.op)) continue;
      if (r.phase == RF_PHASE_ENTER) ++entered[{r.tag_or_result, r.comm}];
      if (r.phase == RF_PHASE_EXIT) ++left;
    }
    const std::map<std::pair<int, uint32_t>, int> all{
        {{RF_NAMED_MPI_File_open, 0}, 1},    {{RF_NAMED_MPI_File_write_at_all, 0}, 3},
        {{RF_NAMED_MPI_File_read_at, 0}, 1}, {{RF_NAMED_MPI_File_close, 0}, 1},
        {{RF_NAMED_MPI_Win_create, 2}, 1},   {{RF_NAMED_MPI_Win_fence, 2}, 2},
        {{RF_NAMED_MPI_Win_lock, 2}, 1},     {{RF_NAMED_MPI_Win_unlock, 2}, 1},
        {{RF_NAMED_MPI_Win_free, 2}, 1}};
    EXPECT_EQ(entered, all) << "rank " << rank;
    EXPECT_EQ(left, 12);
    EXPECT_EQ(record.header.opaque & (RF_OPAQUE_COMMUNICATION | RF_OPAQUE_IO), 0u);
    EXPECT_EQ(record.comms.at(0).entered, 2u) << "the dup and finalize: files and windows take no place";
    EXPECT_EQ(record.comms.at(0).failures, 0u);
  }
}

TEST_P(MpiRecord, LeavesTheProgramsOutputAsItIs) {
  const JobEnd with = run({"mpi_all_ops"});
  JobOptions options;
  options.agent = false;
  options.run_dir = run_dir_;
  const JobEnd without = run_mpi(mpi_, {"mpi_all_ops"}, options);
  EXPECT_EQ(with.status, without.status);
  EXPECT_EQ(with.books, without.books);
}

// MPICH 5.0.2 takes the thread level of a session without an info from a variable that it has not set. Ranks
// with different levels choose different algorithms, and the job dies (docs/internals/agent.md). The bytes
// that the agent leaves on the stack must not become such a value.
TEST_P(MpiRecord, SessionsEndAsWithoutTheAgent) {
  if (access((mpi_.programs + "/mpi_sessions").c_str(), X_OK) != 0)
    GTEST_SKIP() << "this MPI has no sessions";
  JobOptions options;
  options.agent = false;
  options.run_dir = run_dir_;
  const JobEnd without = run_mpi(mpi_, {"mpi_sessions"}, options);
  if (without.status != 0) GTEST_SKIP() << "this MPI's sessions fail without the agent, too: " << without.err;
  ASSERT_EQ(without.books.size(), 4u) << without.out;
  const JobEnd with = run({"mpi_sessions"});
  EXPECT_EQ(with.status, 0) << with.err;
  EXPECT_EQ(with.books, without.books);
}

TEST_P(MpiRecord, CountsCallsByWhicheverNameTheyReachTheLibrary) {
  const JobEnd end = run({"mpi_ways", "20"});
  ASSERT_EQ(end.status, 0) << end.err;
  ASSERT_EQ(records_.size(), 4u);
  for (const auto& [rank, record] : records_) {
    EXPECT_EQ(record.entered(RF_LIB_MPI), own_book(end.books.at(rank))) << "rank " << rank;
    EXPECT_EQ(record.header.opaque & RF_OPAQUE_COMMUNICATION, 0u);
  }
}

// The record counts the calls that the library gets, with those that a tool in between adds or leaves out.
TEST_P(MpiRecord, CountsWhatAToolMakesOfTheProgramsCalls) {
  if (access((mpi_.programs + "/mpi_ways_under_tool").c_str(), X_OK) != 0)
    GTEST_SKIP() << "shown with Open MPI 4";
  const JobEnd end = run({"mpi_ways_under_tool", "20", "tool"});
  ASSERT_EQ(end.status, 0) << end.err;
  for (const auto& [rank, record] : records_)
    EXPECT_EQ(record.entered(RF_LIB_MPI), own_book(end.books.at(rank))) << "rank " << rank;
}

TEST_P(MpiRecord, SaysWhichLibraryItStandsIn) {
  ASSERT_EQ(run({"mpi_all_ops"}).status, 0);
  for (const auto& [rank, record] : records_) {
    EXPECT_EQ(record.header.coverage[0].decoder, mpi_.decoder);
    EXPECT_EQ(record.header.coverage[0].hook, RF_HOOK_PRELOAD) << record.header.coverage[0].reason;
    EXPECT_EQ(record.header.coverage[0].version / 10000, mpi_.major);
    EXPECT_EQ(record.header.opaque & (RF_OPAQUE_COMMUNICATION | RF_OPAQUE_RMA | RF_OPAQUE_IO), 0u)
        << "all understood";
    EXPECT_EQ(record.header.stage, static_cast<uint32_t>(RF_STAGE_FINALIZED));
    EXPECT_EQ(record.header.world_size, 4);
    EXPECT_EQ(record.header.generation, records_.at(0).header.generation);
  }
}

TEST_P(MpiRecord, GivesACommunicatorOneIdentityOnAllItsMembers) {
  ASSERT_EQ(run({"mpi_all_ops"}, 5).status, 0);
  ASSERT_EQ(records_.size(), 5u);
  enum { kWorld, kSelf, kTwin, kHalf, kLater };
  for (const auto& [rank, record] : records_) {
    ASSERT_EQ(record.comms.size(), 5u);
    const auto& first = records_.at(rank % 2).comms;
    for (int c : {kWorld, kTwin, kHalf, kLater})
      EXPECT_EQ(record.comms[c].id, first[c].id) << rank << " comm " << c;
    for (int c : {kWorld, kTwin, kLater}) EXPECT_EQ(record.comms[c].id, records_.at(0).comms[c].id);
    std::set<uint64_t> distinct;
    for (const rf_comm& comm : record.comms) distinct.insert(comm.id);
    EXPECT_EQ(distinct.size(), 5u);
    EXPECT_EQ(record.comms[kTwin].parent, record.comms[kWorld].id);
    EXPECT_EQ(record.comms[kLater].parent, record.comms[kTwin].id);
    EXPECT_EQ(record.comms[kWorld].identity, RF_ID_DERIVED);
  }
  EXPECT_NE(records_.at(0).comms[kHalf].id, records_.at(1).comms[kHalf].id);
  EXPECT_NE(records_.at(0).comms[kSelf].id, records_.at(1).comms[kSelf].id);
  EXPECT_THAT(records_.at(2).members(records_.at(2).comms[kHalf]), ElementsAre(0, 2, 4));
}

TEST_P(MpiRecord, NoTwoCommunicatorsShareAnIdentityHoweverTheyWereMade) {
  const JobEnd end = run({"mpi_comms"}, 5);
  ASSERT_EQ(end.status, 0) << end.err;
  std::map<uint64_t, std::vector<std::pair<int, rf_comm>>> holders;  // by id
  for (const auto& [rank, record] : records_) {
    EXPECT_EQ(record.entered(RF_LIB_MPI), own_book(end.books.at(rank))) << "rank " << rank;
    EXPECT_EQ(record.header.opaque & RF_OPAQUE_COMMUNICATION, 0u);
    EXPECT_EQ(record.header.thread_multiple, end.books.at(rank)["checksum"].get<double>() == 1 ? 1u : 0u);
    for (const rf_comm& comm : record.comms) holders[comm.id].emplace_back(rank, comm);
  }
  // All members of a communicator have its id, and no other rank has it. An intercommunicator holds both
  // sides.
  for (const auto& [id, members] : holders) {
    const auto& [rank, comm] = members.front();
    if (comm.flags & RF_COMM_INTER) {
      EXPECT_EQ(members.size(), 5u);
      continue;
    }
    std::vector<int32_t> ranks;
    for (const auto& [holder, same] : members) ranks.push_back(holder);
    EXPECT_THAT(ranks, UnorderedElementsAreArray(records_.at(rank).members(comm)))
        << "id " << id << " made as number " << comm.ordinal;
    for (const auto& [holder, same] : members) {
      EXPECT_EQ(same.entered, comm.entered);
      EXPECT_EQ(same.parent, comm.parent);
      EXPECT_EQ(same.parent_seq, comm.parent_seq);
    }
  }
}

TEST_P(MpiRecord, TellsWhatWasEnqueuedFromWhatWasSeenComplete) {
  ASSERT_EQ(run({"mpi_all_ops"}).status, 0);
  for (const auto& [rank, record] : records_) {
    std::set<uint64_t> entered, enqueued, complete;
    for (size_t lane = 0; lane < record.lanes.size(); ++lane)
      for (const rf_record& r : record.lanes[lane]) {
        const uint64_t origin = RF_ORIGIN(lane, r.call);
        if (r.phase == RF_PHASE_ENTER && r.flags & RF_CALL_NONBLOCKING) entered.insert(origin);
        if (r.phase == RF_PHASE_ENQUEUE) enqueued.insert(origin);
        if (r.phase == RF_PHASE_COMPLETE) complete.insert(r.where);
      }
    EXPECT_GE(entered.size(), 15u);
    EXPECT_EQ(enqueued, entered);
    EXPECT_EQ(complete, entered) << "rank " << rank;
  }
}

// The starts of one persistent collective have their own order, the same on all members, in whatever order
// the requests were started.
TEST_P(MpiRecord, EachPersistentCollectiveHasAnOrderOfItsOwn) {
  if (GetParam() == std::string("Mpich4")) GTEST_SKIP() << "those of MPICH 4.0 fail without the agent, too";
  const JobEnd end = run({"mpi_persistent"});
  ASSERT_EQ(end.status, 0) << end.err;
  ASSERT_EQ(records_.size(), 4u);
  std::map<uint64_t, std::multiset<std::string>> ops_of;  // by the first start of each order, over all ranks
  for (const auto& [rank, record] : records_) {
    EXPECT_EQ(record.entered(RF_LIB_MPI), own_book(end.books.at(rank))) << "rank " << rank;
    EXPECT_EQ(record.header.opaque, 0u);
    for (const rf_record& r : record.records(RF_LIB_MPI)) {
      if (r.phase != RF_PHASE_ENTER || !(r.flags & RF_CALL_PERSISTENT)) continue;
      const rf_comm& order = record.comms.at(r.comm);
      EXPECT_TRUE(order.flags & RF_COMM_STREAM);
      EXPECT_EQ(order.state, static_cast<uint32_t>(RF_COMM_DESTROYED)) << "its request was freed";
      EXPECT_EQ(order.entered, 3u);
      EXPECT_EQ(order.completed, 3u);
      EXPECT_EQ(record.members(order).size(), 4u);
      if (r.seq == 1) ops_of[order.id].insert(op_name(r.op));
    }
  }
  EXPECT_EQ(ops_of.size(), 17u);
  for (const auto& [id, ops] : ops_of) {
    EXPECT_EQ(ops.size(), 4u);
    EXPECT_EQ(ops.count(*ops.begin()), 4u) << *ops.begin();
  }
}

TEST_P(MpiRecord, NeighborsAndTheirTopologiesAreInTheOrder) {
  const JobEnd end = run({"mpi_neighbors", "--steps=2"});
  ASSERT_EQ(end.status, 0) << end.err;
  ASSERT_EQ(records_.size(), 4u);
  for (const auto& [rank, record] : records_) {
    EXPECT_EQ(record.entered(RF_LIB_MPI), own_book(end.books.at(rank))) << "rank " << rank;
    EXPECT_EQ(record.header.opaque, 0u);
    std::multiset<uint64_t> entered;
    for (const rf_comm& comm : record.comms) entered.insert(comm.entered);
    EXPECT_EQ(entered.count(21), 4u) << "two steps of ten calls, and the end of it";
  }
}

// A rank needs only the ranks from which an edge leads to it. A call that fails under MPI_ERRORS_ARE_FATAL
// ends the job inside that call: the record's last state is this call.
TEST_P(MpiRecord, ANeighborCallNeedsThoseThatItHasAnEdgeFrom) {
  const struct {
    const char* topology;
    int rank;
    unsigned long nth;
    uint64_t needed;
  } kCases[] = {{"a grid", 2, 1, 0b1010},
                {"the edge of a grid", 3, 1, 0b0100},
                {"a closed grid", 3, 3, 0b0101},
                {"a graph", 0, 5, 0b1010},
                {"a ring one way", 0, 7, 0b1000}};
  for (const auto& [topology, rank, nth, needed] : kCases) {
    write_control_page(run_dir_ + "/control", {rank, RF_OP_NEIGHBOR_ALL_TO_ALL, RF_VERB_FAIL, nth, 16});
    EXPECT_NE(run({"mpi_neighbors"}).status, 0);
    ASSERT_EQ(records_.count(rank), 1u);
    std::vector<uint64_t> masks;
    for (const rf_state& state : records_.at(rank).states)
      if (state.op == RF_OP_NEIGHBOR_ALL_TO_ALL && state.flags & RF_CALL_MASK_VALID)
        masks.push_back(state.needs_mask);
    EXPECT_THAT(masks, ElementsAre(needed)) << topology;
    std::filesystem::remove_all(run_dir_ + "/records");
  }
}

// A matched probe counts as the receive. Fetching the message counts as a wait.
TEST_P(MpiRecord, AMatchedProbeIsTheReceive) {
  const JobEnd end = run({"mpi_matched"});
  ASSERT_EQ(end.status, 0) << end.err;
  ASSERT_EQ(records_.size(), 4u);
  for (const auto& [rank, record] : records_) {
    EXPECT_EQ(record.entered(RF_LIB_MPI), own_book(end.books.at(rank))) << "rank " << rank;
    EXPECT_EQ(record.header.opaque, 0u);
  }
  std::vector<int> tags;
  for (const rf_record& r : records_.at(1).records(RF_LIB_MPI))
    if (r.op == RF_OP_RECV && r.phase == RF_PHASE_ENTER) tags.push_back(r.tag_or_result);
  EXPECT_THAT(tags, ElementsAre(1, ::testing::_, 3, 4, 5)) << "the second asked for any";
}

// MPICH gives one handle to all sends that are complete when they are made.
TEST_P(MpiRecord, SendsThatAreCompleteAtOnceAreAllTold) {
  ASSERT_EQ(run({"mpi_small_sends"}, 2).status, 0);
  ASSERT_EQ(records_.size(), 2u);
  for (const auto& [rank, record] : records_) {
    size_t enqueued = 0, complete = 0;
    for (const rf_record& r : record.records(RF_LIB_MPI)) enqueued += r.phase == RF_PHASE_ENQUEUE;
    for (const auto& lane : record.lanes)
      for (const rf_record& r : lane) complete += r.phase == RF_PHASE_COMPLETE;
    EXPECT_EQ(enqueued, 8u) << rank;
    EXPECT_EQ(complete, 8u) << rank;
  }
}

TEST_P(MpiRecord, ASkippedCallLeavesNoRecord) {
  write_control_page(run_dir_ + "/control",
                     {3, RF_OP_BARRIER, RF_VERB_SKIP, 4});  // on its own: no other waits
  const JobEnd end = run({"mpi_all_ops"});
  ASSERT_EQ(end.status, 0) << end.err;
  ASSERT_EQ(records_.size(), 4u);
  for (const auto& [rank, record] : records_) {
    EXPECT_EQ(record.entered(RF_LIB_MPI).at("barrier"), rank == 3 ? 3 : 4) << "rank " << rank;
    EXPECT_EQ(record.comms[1].entered, rank == 3 ? 0u : 1u) << "MPI_COMM_SELF of rank " << rank;
  }
}

TEST_P(MpiRecord, ASkippedPendingCallGivesACompleteRequest) {
  for (unsigned long nth : {1, 2}) {  // one is waited for by Waitall, the other by Waitany, which counts it
    write_control_page(run_dir_ + "/control", {3, RF_OP_RECV, RF_VERB_SKIP, nth});
    const JobEnd end = run({"mpi_all_ops"});
    // MPICH 5 reports at the end that a message was never received.
    if (mpi_.is_openmpi() || mpi_.major == 4) {
      EXPECT_EQ(end.status, 0) << end.err;
    }
    ASSERT_EQ(records_.count(3), 1u) << end.err;
    EXPECT_EQ(records_.at(3).entered(RF_LIB_MPI).at("recv"), 5);
    EXPECT_EQ(records_.at(3).entered(RF_LIB_MPI).at("finalize"), 1) << end.err;
    std::filesystem::remove_all(run_dir_ + "/records");
  }
}

TEST_P(MpiRecord, AChangedArgumentIsWhatTheRecordShows) {
  write_control_page(run_dir_ + "/control", {2, RF_OP_BROADCAST, RF_VERB_ARG, 1, RF_ARG_COUNT, 64 + 16});
  const JobEnd end = run({"mpi_steps", "--steps=1"});
  // A receiver that expects more than it gets sees no error, but MPICH compares the sizes.
  if (mpi_.is_openmpi()) {
    ASSERT_EQ(end.status, 0) << end.err;
  }
  ASSERT_EQ(records_.size(), 4u) << end.err;
  uint64_t seen = 0;
  for (const rf_record& r : records_.at(2).records(RF_LIB_MPI))
    if (r.op == RF_OP_BROADCAST && r.phase == RF_PHASE_ENTER) seen = r.count;
  EXPECT_EQ(seen, 80u);
}

TEST_P(MpiRecord, AnInjectedMismatchLooksLikeTheProgramsOwn) {
  ASSERT_EQ(run({"mpi_bugs", "--bug=dtype", "--rank=1", "--step=3"}).status, 0)
      << "such a mismatch ends silently";
  const auto bug = records_;
  std::filesystem::remove_all(run_dir_ + "/records");
  write_control_page(run_dir_ + "/control",
                     {1, RF_OP_ALL_REDUCE, RF_VERB_ARG, 4, RF_ARG_DTYPE, RF_DTYPE_INT32});
  ASSERT_EQ(run({"mpi_bugs", "--bug=none"}).status, 0);
  ASSERT_EQ(records_.size(), 4u);
  for (const auto& [rank, record] : records_)
    EXPECT_EQ(what_was_done(record), what_was_done(bug.at(rank))) << rank;
  EXPECT_NE(what_was_done(records_.at(1)), what_was_done(records_.at(0)));
}

}  // namespace
}  // namespace rankfault::test
