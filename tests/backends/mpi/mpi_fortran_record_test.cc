// Tests of the MPI decoders on whole jobs whose calls are made from Fortran.
#include "tests/backends/mpi/mpi_record.h"

namespace rankfault::test {
namespace {

class MpiFortranRecord : public MpiRecord {};

INSTANTIATE_TEST_SUITE_P(Versions, MpiFortranRecord,
                         ::testing::Values("OpenMpi4", "OpenMpi5", "Mpich4", "Mpich5", "MpiStandard"),
                         [](const auto& which) { return which.param; });

// MPICH's Fortran reaches the C names only in part.
TEST_P(MpiFortranRecord, MpichsFortranIsOpaqueAndComesToItsEnd) {
  if (mpi_.is_openmpi()) GTEST_SKIP() << "its Fortran is decoded";
  for (const char* program : {"fortran_steps", "fortran08_steps"}) {
    if (!std::filesystem::exists(mpi_.programs + "/" + program))
      GTEST_SKIP() << "this MPI has no Fortran compiler here";
    const JobEnd end = run({program}, 3);
    ASSERT_EQ(end.status, 0) << end.err;
    ASSERT_EQ(records_.size(), 3u);
    for (const auto& [rank, record] : records_) {
      EXPECT_NE(record.header.opaque & RF_OPAQUE_COMMUNICATION, 0u) << program;
      EXPECT_EQ(record.header.stage, static_cast<uint32_t>(RF_STAGE_FINALIZED)) << program;
      EXPECT_EQ(record.entered(RF_LIB_MPI).at("init"), 1) << program;
      EXPECT_EQ(record.entered(RF_LIB_MPI).at("finalize"), 1) << program;
      EXPECT_EQ(record.entered(RF_LIB_MPI).at("all_reduce"), own_book(end.books.at(rank)).at("all_reduce"));
    }
    std::filesystem::remove_all(run_dir_ + "/records");
  }
}

// Collectives, messages, requests and communicators, from either module.
TEST_P(MpiFortranRecord, FortransCallsAreThoseOfItsOwnBook) {
  if (!mpi_.is_openmpi()) GTEST_SKIP() << "its Fortran is opaque";
  for (const char* program : {"fortran_all_ops_F77", "fortran_all_ops_F08"}) {
    if (!std::filesystem::exists(mpi_.programs + "/" + program))
      GTEST_SKIP() << "this MPI has no Fortran compiler here";
    const JobEnd end = run({program});
    ASSERT_EQ(end.status, 0) << end.out << end.err;
    ASSERT_EQ(records_.size(), 4u);
    for (const auto& [rank, record] : records_) {
      EXPECT_EQ(record.entered(RF_LIB_MPI), own_book(end.books.at(rank))) << program << " rank " << rank;
      EXPECT_EQ(record.header.opaque & RF_OPAQUE_COMMUNICATION, 0u) << program;
      std::multiset<std::pair<uint32_t, uint64_t>> comms;  // size, calls on it
      for (const rf_comm& comm : record.comms) comms.insert({comm.size, comm.entered});
      EXPECT_THAT(comms,
                  ::testing::UnorderedElementsAre(std::pair(1u, 0u), std::pair(2u, 4u), std::pair(4u, 3u),
                                                  std::pair(4u, 5u), std::pair(4u, 11u)))
          << program << ": self, half, world, grid, twin";
      std::set<uint64_t> entered, complete;
      for (size_t lane = 0; lane < record.lanes.size(); ++lane)
        for (const rf_record& r : record.lanes[lane]) {
          if (r.phase == RF_PHASE_ENTER && r.flags & RF_CALL_NONBLOCKING)
            entered.insert(RF_ORIGIN(lane, r.call));
          if (r.phase == RF_PHASE_COMPLETE) complete.insert(r.where);
          if (r.op == RF_OP_ALL_REDUCE && r.phase == RF_PHASE_ENTER && !(r.flags & RF_CALL_NONBLOCKING)) {
            EXPECT_TRUE(r.flags & RF_CALL_IN_PLACE) << program;
          }
        }
      EXPECT_EQ(entered.size(), 6u);
      EXPECT_EQ(complete, entered) << program << " rank " << rank;
    }
    std::filesystem::remove_all(run_dir_ + "/records");
  }
}

TEST_P(MpiFortranRecord, SeesFortranCallsOnce) {
  if (!mpi_.is_openmpi()) GTEST_SKIP() << "its Fortran is opaque";
  for (const char* program : {"fortran_steps", "fortran08_steps"}) {
    if (!std::filesystem::exists(mpi_.programs + "/" + program))
      GTEST_SKIP() << "this MPI has no Fortran compiler here";
    const JobEnd end = run({program}, 3);
    ASSERT_EQ(end.status, 0) << end.err;
    ASSERT_EQ(records_.size(), 3u);
    EXPECT_EQ(records_.at(2).entered(RF_LIB_MPI), own_book(end.books.at(2))) << program;
    EXPECT_EQ(records_.at(0).entered(RF_LIB_MPI).at("send"), 1);
    EXPECT_EQ(records_.at(1).entered(RF_LIB_MPI).at("recv"), 1);
    for (const auto& [rank, record] : records_) {
      EXPECT_EQ(record.header.opaque & RF_OPAQUE_COMMUNICATION, 0u);
      EXPECT_EQ(record.comms.at(0).id, records_.at(0).comms.at(0).id);
      for (const rf_record& r : record.records(RF_LIB_MPI))
        if (r.op == RF_OP_ALL_REDUCE && r.phase == RF_PHASE_ENTER) {
          EXPECT_EQ(r.dtype, RF_DTYPE_FLOAT32);
          EXPECT_EQ(r.reduce_op, RF_REDUCE_SUM);
        }
    }
    std::filesystem::remove_all(run_dir_ + "/records");
  }
}

}  // namespace
}  // namespace rankfault::test
