// real_data_test: dumps of a real job, if RANKFAULT_FR_DATA names a folder that holds folders of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "harness/flight_recorder/read_dumps.h"
#include "harness/flight_recorder/write_dump.h"
#include "samples.h"

namespace rankfault::testing {
namespace {

// NVIDIA's published sets: 16 ranks, version 2.9, only active entries, and the log of the injected faults.
TEST(RealData, EveryDumpIsReadWholeAndSurvivesARoundTrip) {
  const char* data = std::getenv("RANKFAULT_FR_DATA");
  if (!data) GTEST_SKIP() << "no dumps (RANKFAULT_FR_DATA)";
  int sets = 0;
  for (const auto& set : std::filesystem::directory_iterator(data)) {
    if (!set.is_directory()) continue;
    ++sets;
    const Result<FrDumps> all = read_dumps({set.path().string()});
    ASSERT_TRUE(all.ok()) << all.error().message;
    ASSERT_EQ(all->dumps.size(), 16u) << set.path();
    ASSERT_EQ(all->evidence.size(), 1u) << set.path();
    EXPECT_EQ(all->evidence[0].what, "neither a pickle nor JSON");
    for (size_t rank = 0; rank < all->dumps.size(); ++rank) {
      const FrDump& dump = all->dumps[rank];
      EXPECT_EQ(dump.rank, static_cast<int64_t>(rank));
      EXPECT_EQ(dump.version, "2.9");
      EXPECT_EQ(dump.comm_lib_version, "2.27.3");
      EXPECT_EQ(dump.groups.size(), 13u);
      EXPECT_EQ(dump.groups[0].ranks.size(), 16u);
      EXPECT_FALSE(dump.status.empty());
      EXPECT_TRUE(dump.notes.empty());
      EXPECT_EQ(dump.backend, dump.entries.empty() ? FrBackend::kUnknown : FrBackend::kNccl);
      for (const FrEntry& e : dump.entries) {
        EXPECT_NE(e.state, FrState::kUnknown);
        EXPECT_GE(e.timeout_ms, 180'000);
        EXPECT_FALSE(e.input_sizes.empty());
      }
      const Result<FrDump> again = from_pickle(dump_to_pickle(dump));
      ASSERT_TRUE(again.ok()) << again.error().message;
      expect_equal(*again, dump);
    }
  }
  EXPECT_GT(sets, 0);
}

}  // namespace
}  // namespace rankfault::testing
