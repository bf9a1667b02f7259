// Tests of the MPI decoders on whole jobs whose calls are made from Fortran.
#include "tests/backends/mpi/mpi_record.h"

namespace rankfault::test {
namespace {

constexpr int64_t kProgramBytes = 1 << 28;  // larger than the program; the libraries lie further away

class MpiFortranRecord : public MpiRecord {
 protected:
  bool is_here(const std::string& program) const {
    return std::filesystem::exists(mpi_.programs + "/" + program);
  }
};

// The tested packages of Open MPI 5 and MPICH 5 contain no Fortran.
INSTANTIATE_TEST_SUITE_P(Versions, MpiFortranRecord, ::testing::Values("OpenMpi4", "Mpich4"),
                         [](const auto& which) { return which.param; });

// Collectives, messages, requests and communicators, from either module.
TEST_P(MpiFortranRecord, FortransCallsAreThoseOfItsOwnBook) {
  for (const char* program : {"fortran_all_ops_F77", "fortran_all_ops_F08"}) {
    if (!is_here(program)) GTEST_SKIP() << "this MPI has no Fortran compiler here";
    const JobEnd end = run({program});
    ASSERT_EQ(end.status, 0) << end.out << end.err;
    ASSERT_EQ(records_.size(), 4u);
    for (const auto& [rank, record] : records_) {
      EXPECT_EQ(record.entered(RF_LIB_MPI), own_book(end.books.at(rank))) << program << " rank " << rank;
      EXPECT_EQ(record.header.opaque & RF_OPAQUE_COMMUNICATION, 0u) << program;
      EXPECT_EQ(record.header.polled, 1u) << program << ": MPI_Test";
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

// Persistent messages, matched probes, alltoallw with one type per rank, other ways to a communicator.
TEST_P(MpiFortranRecord, SoAreTheRarerOnes) {
  for (const char* program : {"fortran_more_ops_F77", "fortran_more_ops_F08"}) {
    if (!is_here(program)) GTEST_SKIP() << "this MPI has no Fortran compiler here";
    const JobEnd end = run({program});
    ASSERT_EQ(end.status, 0) << end.out << end.err;
    ASSERT_EQ(records_.size(), 4u);
    for (const auto& [rank, record] : records_) {
      EXPECT_EQ(record.entered(RF_LIB_MPI), own_book(end.books.at(rank))) << program << " rank " << rank;
      EXPECT_EQ(record.header.opaque & RF_OPAQUE_COMMUNICATION, 0u) << program;
      for (const rf_comm& comm : record.comms) EXPECT_NE(comm.id, 0u) << program;
      std::set<uint64_t> entered, complete;
      int64_t program_at = 0;
      for (size_t lane = 0; lane < record.lanes.size(); ++lane)
        for (const rf_record& r : record.lanes[lane]) {
          if (r.phase == RF_PHASE_ENTER && r.flags & RF_CALL_NONBLOCKING)
            entered.insert(RF_ORIGIN(lane, r.call));
          if (r.phase == RF_PHASE_COMPLETE) {
            EXPECT_TRUE(complete.insert(r.where).second) << "told twice";
          }
          if (r.phase != RF_PHASE_ENTER) continue;
          if (r.op == RF_OP_INIT) program_at = static_cast<int64_t>(r.where);
          // The place in the program, not the place where the library's Fortran calls the C name.
          EXPECT_LT(std::abs(static_cast<int64_t>(r.where) - program_at), kProgramBytes) << op_name(r.op);
          EXPECT_EQ((r.flags & RF_CALL_IN_PLACE) != 0, r.op == RF_OP_ALL_GATHER) << op_name(r.op);
          EXPECT_EQ(r.flags & RF_CALL_UNEQUAL, 0) << op_name(r.op);
          // To each of the two neighbours on the graph, to one on the ring.
          if (r.op == RF_OP_NEIGHBOR_ALL_TO_ALLV || r.op == RF_OP_NEIGHBOR_ALL_TO_ALL) {
            EXPECT_EQ(r.count, r.op == RF_OP_NEIGHBOR_ALL_TO_ALLV ? 2u : 1u);
          }
        }
      EXPECT_EQ(complete, entered) << program << " rank " << rank;
    }
    std::filesystem::remove_all(run_dir_ + "/records");
  }
}

TEST_P(MpiFortranRecord, SeesFortranCallsOnce) {
  for (const char* program : {"fortran_steps", "fortran08_steps"}) {
    if (!is_here(program)) GTEST_SKIP() << "this MPI has no Fortran compiler here";
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
