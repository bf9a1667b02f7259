// seen_files_test: files next to the rings stay below their cap, and say how much was removed.
#include "harness/observe/seen_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "tests/support/tool.h"

namespace rankfault::testing {
namespace {

class SeenFilesTest : public ::testing::Test {
 protected:
  static std::vector<rf_record> records(uint64_t from, size_t count) {
    std::vector<rf_record> out(count);
    for (rf_record& r : out) r.commit = ++from;
    return out;
  }
  uint64_t on_disk() const {
    uint64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder_.path())) bytes += file.file_size();
    return bytes;
  }
  const ProcessId process_{1, 2, 3, 4, 0};
  test::Scratch folder_;
};

TEST_F(SeenFilesTest, TheNewestAreReadBack) {
  SeenFiles files(100 * sizeof(rf_record));
  for (uint64_t i = 0; i < 1000; i += 10) files.append(folder_.path(), process_, 0, records(i, 10));
  EXPECT_LE(on_disk(), 100 * sizeof(rf_record));
  EXPECT_EQ(files.bytes(), on_disk());
  const std::vector<rf_record> read = read_seen(folder_.path(), process_, 0);
  EXPECT_EQ(read.back().commit, 1000u);
  EXPECT_GE(read.size(), 50u);
  EXPECT_EQ(read.size() + files.removed(), 1000u);
}

TEST_F(SeenFilesTest, ManyLanesTogetherStayBelowTheCap) {
  SeenFiles files(1000 * sizeof(rf_record));
  for (uint64_t i = 0; i < 200; i += 10)
    for (uint32_t lane = 0; lane < 40; ++lane) files.append(folder_.path(), process_, lane, records(i, 10));
  EXPECT_LE(on_disk(), 1000 * sizeof(rf_record));
  uint64_t read = 0;
  for (uint32_t lane = 0; lane < 40; ++lane) read += read_seen(folder_.path(), process_, lane).size();
  EXPECT_EQ(read + files.removed(), 200u * 40);
}

TEST_F(SeenFilesTest, WhatIsAroundAFaultStays) {
  SeenFiles files(100 * sizeof(rf_record));
  files.append(folder_.path(), process_, 0, records(0, 20), true);
  for (uint64_t i = 20; i < 1000; i += 10) files.append(folder_.path(), process_, 0, records(i, 10));
  EXPECT_LE(on_disk(), 100 * sizeof(rf_record));
  EXPECT_EQ(read_seen(folder_.path(), process_, 0).front().commit, 1u);
}

TEST_F(SeenFilesTest, ADiskThatTookAPartOfARecordSpoilsNoOther) {
  SeenFiles files;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit full{5 * sizeof(rf_record) + 10, before.rlim_max};
  const auto old_action = std::signal(SIGXFSZ, SIG_IGN);
  files.append(folder_.path(), process_, 0, records(0, 3));
  ::setrlimit(RLIMIT_FSIZE, &full);
  files.append(folder_.path(), process_, 0, records(3, 4));
  ::setrlimit(RLIMIT_FSIZE, &before);
  files.append(folder_.path(), process_, 0, records(7, 2));  // the disk has space again
  std::signal(SIGXFSZ, old_action);
  std::vector<uint64_t> read;
  for (const rf_record& r : read_seen(folder_.path(), process_, 0)) read.push_back(r.commit);
  EXPECT_EQ(read, (std::vector<uint64_t>{1, 2, 3, 8, 9}));
  EXPECT_EQ(files.removed(), 4u);
}

TEST_F(SeenFilesTest, AFolderThatIsGoneCountsAsRemoved) {
  SeenFiles files;
  files.append("/nowhere/records", process_, 0, records(0, 20));
  EXPECT_EQ(files.removed(), 20u);
  EXPECT_EQ(files.bytes(), 0u);
}

}  // namespace
}  // namespace rankfault::testing
