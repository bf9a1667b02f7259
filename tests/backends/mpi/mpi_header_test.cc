// What the header of a record says about a whole MPI process.
#include "tests/backends/mpi/mpi_record.h"

namespace rankfault::test {
namespace {

class MpiHeader : public MpiRecord {};
INSTANTIATE_TEST_SUITE_P(Versions, MpiHeader, ::testing::Values("OpenMpi4", "OpenMpi5", "Mpich5"),
                         [](const auto& which) { return which.param; });

// Open MPI 4 makes two threads, Open MPI 5 and MPICH 5 make one.
TEST_P(MpiHeader, KnowsTheThreadsThatMpiMadeForItself) {
  const JobEnd end = run({"mpi_matched"});
  ASSERT_EQ(end.status, 0) << end.err;
  ASSERT_EQ(records_.size(), 4u);
  for (const auto& [rank, record] : records_) {
    std::set<uint32_t> own(std::begin(record.header.own_threads), std::end(record.header.own_threads));
    own.erase(0);
    EXPECT_EQ(own.size(), GetParam() == std::string("OpenMpi4") ? 2u : 1u) << rank;
    EXPECT_EQ(own.count(static_cast<uint32_t>(record.header.pid)), 0u) << "the program's thread";
    EXPECT_EQ(record.header.polled, rank % 2 ? 1u : 0u) << "MPI_Improbe of rank " << rank;
  }
}

}  // namespace
}  // namespace rankfault::test
