// Tests of the MPI decoders on whole jobs whose calls fail, and whose errors the program handles.
#include "tests/backends/mpi/mpi_record.h"

namespace rankfault::test {
namespace {

TEST_P(MpiRecord, OfRequestsWaitedForTogetherTheOneThatFailedIsTold) {
  const JobEnd end = run({"mpi_truncated"}, 2);
  ASSERT_EQ(end.status, 0) << end.err;
  ASSERT_EQ(records_.size(), 2u);
  for (const auto& [rank, record] : records_) {
    std::map<uint64_t, int> op_of, told;  // by origin
    for (size_t lane = 0; lane < record.lanes.size(); ++lane)
      for (const rf_record& r : record.lanes[lane]) {
        if (r.phase == RF_PHASE_ENTER && r.flags & RF_CALL_NONBLOCKING) op_of[RF_ORIGIN(lane, r.call)] = r.op;
        if (r.phase == RF_PHASE_COMPLETE || (r.phase == RF_PHASE_ERROR && r.where)) told[r.where] = r.phase;
      }
    ASSERT_EQ(op_of.size(), 2u);
    for (const auto& [origin, op] : op_of)
      EXPECT_EQ(told[origin], op == RF_OP_RECV ? int{RF_PHASE_ERROR} : int{RF_PHASE_COMPLETE})
          << op_name(static_cast<uint16_t>(op)) << " of rank " << rank;
  }
}

// MPICH 5 returns success from a refused call whose error the program's own handler took.
TEST_P(MpiRecord, AnErrorThatTheProgramHandlesIsRecorded) {
  JobOptions options;
  options.agent = false;
  options.run_dir = run_dir_;
  const JobEnd without = run_mpi(mpi_, {"mpi_handled_errors"}, options);
  const JobEnd with = run({"mpi_handled_errors"});
  ASSERT_EQ(with.status, 0) << with.err;
  EXPECT_EQ(with.books, without.books);
  ASSERT_EQ(records_.size(), 4u);
  for (const auto& [rank, record] : records_) {
    long failed = 0;
    for (const rf_record& r : record.records(RF_LIB_MPI)) {
      if (r.phase == RF_PHASE_EXIT && r.tag_or_result != 0) ++failed;
      EXPECT_NE(r.phase, RF_PHASE_ENQUEUE) << "nothing is pending";
    }
    EXPECT_EQ(record.comms.size(), 3u) << "world, self, the copy";
    EXPECT_EQ(record.header.opaque & RF_OPAQUE_COMMUNICATION, 0u);
    // Two errors have no record: MPI_Send_init is not recorded, and MPI_Comm_call_errhandler is not a failed
    // call.
    const long handled = with.books.at(rank)["handled"].get<long>();
    EXPECT_EQ(failed, rank == 1 ? handled - 2 : 0);
  }
}

TEST_P(MpiRecord, StartallStartsNoneWhereOneIsRefused) {
  JobOptions options;
  options.agent = false;
  options.run_dir = run_dir_;
  const JobEnd without = run_mpi(mpi_, {"mpi_handled_errors", "startall"}, options);
  const JobEnd with = run({"mpi_handled_errors", "startall"});
  EXPECT_EQ(with.status, 0) << with.err;
  EXPECT_EQ(with.books, without.books);
}

TEST_P(MpiRecord, AFailedCallReachesTheErrorHandler) {
  write_control_page(run_dir_ + "/control", {1, RF_OP_ALL_REDUCE, RF_VERB_FAIL, 3, 16});
  const JobEnd end = run({"mpi_steps", "--steps=10"});
  // MPI_ERRORS_ARE_FATAL aborts with the code. MPICH's mpiexec may report a rank that it killed instead.
  if (mpi_.is_openmpi())
    EXPECT_EQ(end.status, 16) << end.err;
  else
    EXPECT_THAT(end.err, ::testing::HasSubstr("Abort(16) on node 1"));
}

}  // namespace
}  // namespace rankfault::test
