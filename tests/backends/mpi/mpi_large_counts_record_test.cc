// Tests of the functions whose counts are MPI_Count: the record shows MPI_Bcast_c as MPI_Bcast, and the other
// functions in the same way.
#include "harness/agent/named_calls.h"
#include "tests/backends/mpi/mpi_record.h"

namespace rankfault::test {
namespace {

class MpiLargeCounts : public MpiRecord {
 protected:
  // The record of `program` equals that of its twin whose counts are of type int.
  void is_recorded_as_with_ints(const std::string& program, int ranks) {
    ASSERT_EQ(run({"mpi_" + program}, ranks).status, 0);
    const auto ints = records_;
    std::filesystem::remove_all(run_dir_ + "/records");
    const JobEnd end = run({"mpi_large_" + program}, ranks);
    ASSERT_EQ(end.status, 0) << end.err;
    ASSERT_EQ(records_.size(), static_cast<size_t>(ranks));
    for (const auto& [rank, record] : records_) {
      EXPECT_EQ(record.entered(RF_LIB_MPI), own_book(end.books.at(rank))) << "rank " << rank;
      EXPECT_EQ(what_was_done(record), what_was_done(ints.at(rank))) << "rank " << rank;
      EXPECT_EQ(record.header.opaque, 0u);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Versions, MpiLargeCounts, ::testing::Values("Mpich4", "Mpich5", "MpiStandard"),
                         [](const auto& which) { return which.param; });

TEST_P(MpiLargeCounts, AllOperationsAreThoseOfIntCounts) { is_recorded_as_with_ints("all_ops", 4); }

TEST_P(MpiLargeCounts, NeighborsToo) { is_recorded_as_with_ints("neighbors", 4); }

TEST_P(MpiLargeCounts, MatchedMessagesToo) { is_recorded_as_with_ints("matched", 2); }

TEST_P(MpiLargeCounts, PersistentCollectivesToo) {
  if (GetParam() == std::string("Mpich4")) GTEST_SKIP() << "those of MPICH 4.0 fail without the agent, too";
  is_recorded_as_with_ints("persistent", 4);
}

TEST_P(MpiLargeCounts, FilesAndWindowsHaveTheirNames) {
  ASSERT_EQ(run({"mpi_large_files_and_windows", run_dir_ + "/shared-file"}, 2).status, 0);
  ASSERT_EQ(records_.size(), 2u);
  for (const auto& [rank, record] : records_) {
    std::map<int, int> entered;
    for (const rf_record& r : record.records(RF_LIB_MPI))
      if (rf_is_named(r.op) && r.phase == RF_PHASE_ENTER) ++entered[r.tag_or_result];
    EXPECT_EQ(entered[RF_NAMED_MPI_File_write_at_all_c], 3);
    EXPECT_EQ(entered[RF_NAMED_MPI_File_read_at_c], 1);
    EXPECT_EQ(entered[RF_NAMED_MPI_Win_create_c], 1);
    EXPECT_EQ(entered[RF_NAMED_MPI_Win_fence], 2) << "the window is known";
    EXPECT_EQ(record.header.opaque & (RF_OPAQUE_COMMUNICATION | RF_OPAQUE_IO), 0u);
  }
}

TEST_P(MpiLargeCounts, AChangedCountReachesTheLibrary) {
  write_control_page(run_dir_ + "/control", {2, RF_OP_BROADCAST, RF_VERB_ARG, 1, RF_ARG_COUNT, 24});
  run({"mpi_large_all_ops"});  // MPICH compares the sizes, and ends the job
  ASSERT_EQ(records_.count(2), 1u);
  uint64_t seen = 0;
  for (const rf_record& r : records_.at(2).records(RF_LIB_MPI))
    if (r.op == RF_OP_BROADCAST && r.phase == RF_PHASE_ENTER && seen == 0) seen = r.count;
  EXPECT_EQ(seen, 24u);
}

}  // namespace
}  // namespace rankfault::test
