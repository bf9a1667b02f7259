// save_around_test: each drain saves the records around a fault for a few processes, until all are saved.
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/observe/observer.h"
#include "tests/observe/ring_file_writer.h"
#include "tests/support/tool.h"

namespace rankfault::testing {
namespace {

// With a fault that fires in each drain, the same processes do not come first each time.
TEST(SaveAround, AFewProcessesADrainUntilAllAreSaved) {
  constexpr int kRanks = 10;
  const test::Scratch records;
  std::vector<std::unique_ptr<RingFileWriter>> rings;
  for (int rank = 0; rank < kRanks; ++rank) {
    const ProcessId process{7, 8, 900'000'000 + rank, 11, 0};  // this pid does not exist
    rings.push_back(std::make_unique<RingFileWriter>(records.path(), process, rank, kRanks));
    rings.back()->add_comm(99, "world", kRanks, rank);
    rings.back()->enter(0, RF_OP_ALL_REDUCE);
  }
  const auto saved = [&] {
    int files = 0;
    for (const auto& file : std::filesystem::directory_iterator(records.path()))
      files += file.path().string().find(".seen.kept") != std::string::npos;
    return files;
  };
  const auto observer = make_observer({records.path()}, Instant(1ns));
  observer->scan();
  observer->drain();
  EXPECT_EQ(saved(), 0);
  int before = 0;
  for (int drains = 0; saved() < kRanks; ++drains) {
    ASSERT_LT(drains, kRanks);
    observer->save_around_now();
    observer->drain();
    EXPECT_LE(saved() - before, 4);
    before = saved();
  }
}

}  // namespace
}  // namespace rankfault::testing
