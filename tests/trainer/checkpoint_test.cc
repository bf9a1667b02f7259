// Checkpoint tests: what the loader must refuse, and that it then takes the newest whole file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "workloads/trainer/checkpoint_copies.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() {
    std::string form = (fs::temp_directory_path() / "trainer_checkpoint.XXXXXX").string();
    folder_ = mkdtemp(form.data());
    policy.directory = folder_;
    policy.fingerprint = 42;
  }
  ~CheckpointTest() override { fs::remove_all(folder_); }

  fs::path path(int64_t step) const { return fs::path(policy.directory) / checkpoint_name(step); }
  void write(int64_t step) { ASSERT_EQ(write_checkpoint(policy, {step, weights_of(step)}), std::nullopt); }
  void write_again(int64_t step) {  // an existing file is not replaced
    fs::remove(path(step));
    write(step);
  }
  static std::vector<double> weights_of(int64_t step) { return std::vector<double>(100, 0.5 * step); }

  void flip_bit(int64_t step, std::streamoff offset) {
    std::fstream file(path(step), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(offset);
    const auto byte = static_cast<char>(file.get() ^ 1);
    file.seekp(offset);
    file.put(byte);
  }

  void expect_step_10_and_a_rejection(const std::string& reason) {
    const LoadedCheckpoint loaded = load_newest_checkpoint(policy);
    EXPECT_THAT(loaded.rejected, ElementsAre(HasSubstr(reason)));
    ASSERT_TRUE(loaded.newest.has_value());
    EXPECT_EQ(loaded.newest->step, 10);
    EXPECT_EQ(loaded.newest->weights, weights_of(10));
  }

  CheckpointPolicy policy;

 private:
  std::string folder_;  // a test may pass another folder to the policy
};

TEST_F(CheckpointTest, TheNewestIsTakenBitForBit) {
  write(10);
  write(20);
  const LoadedCheckpoint loaded = load_newest_checkpoint(policy);
  EXPECT_EQ(loaded.newest->step, 20);
  EXPECT_EQ(loaded.newest->weights, weights_of(20));
  EXPECT_THAT(loaded.rejected, IsEmpty());
}

TEST_F(CheckpointTest, OnlyTheNewestTwoAreKept) {
  for (int64_t step : {10, 20, 30}) write(step);
  EXPECT_FALSE(fs::exists(path(10)));
  EXPECT_TRUE(fs::exists(path(20)) && fs::exists(path(30)));
}

TEST_F(CheckpointTest, AnEmptyOrAbsentDirectoryIsNoCheckpoint) {
  EXPECT_FALSE(load_newest_checkpoint(policy).newest);
  policy.directory += "/none";
  EXPECT_FALSE(load_newest_checkpoint(policy).newest);
  EXPECT_THAT(load_newest_checkpoint(policy).rejected, IsEmpty());
}

TEST_F(CheckpointTest, ATruncatedFileIsRejectedAtAnyLength) {
  write(10);
  write(20);
  const auto whole = fs::file_size(path(20));
  for (uintmax_t size : {whole - 1, whole - 8, whole / 2, uintmax_t{41}, uintmax_t{40}, uintmax_t{7}}) {
    write_again(20);
    fs::resize_file(path(20), size);
    expect_step_10_and_a_rejection(size < 40 ? "cut off inside its header" : "not what its header says");
  }
  fs::resize_file(path(20), 0);
  expect_step_10_and_a_rejection("is empty");
}

TEST_F(CheckpointTest, ATornFileOfFullLengthIsRejected) {
  write(10);
  write(20);
  const auto whole = fs::file_size(path(20));
  fs::resize_file(path(20), whole / 2);
  fs::resize_file(path(20), whole);  // the second half is zeros, as after a kill between two writes
  expect_step_10_and_a_rejection("wrong checksum");
}

TEST_F(CheckpointTest, AFlippedBitIsRejectedWhereverItIs) {
  write(10);
  write(20);
  for (auto [offset, reason] :
       {std::pair{0, "not a checkpoint"}, std::pair{8, "another training"}, std::pair{16, "checksum"},
        std::pair{24, "header says"}, std::pair{32, "checksum"}, std::pair{40, "checksum"},
        std::pair{839, "checksum"}}) {
    write_again(20);
    flip_bit(20, offset);
    expect_step_10_and_a_rejection(reason);
  }
}

TEST_F(CheckpointTest, AForeignFileIsRejected) {
  write(10);
  std::ofstream(path(20)) << "#!/bin/sh\necho this is something else, long enough to hold a header\n";
  expect_step_10_and_a_rejection("not a checkpoint of this trainer");
}

TEST_F(CheckpointTest, ACheckpointOfAnotherTrainingIsRejected) {
  write(10);
  CheckpointPolicy other = policy;
  other.fingerprint = 43;
  ASSERT_EQ(write_checkpoint(other, {20, weights_of(20)}), std::nullopt);
  expect_step_10_and_a_rejection("belongs to another training");
}

TEST_F(CheckpointTest, ASymbolicLinkIsNotFollowed) {
  write(10);
  fs::create_symlink(path(10), path(20));
  expect_step_10_and_a_rejection("is a symbolic link");
}

TEST_F(CheckpointTest, ADirectoryInThePlaceOfAFileIsRejected) {
  write(10);
  fs::create_directory(path(20));
  expect_step_10_and_a_rejection("is not a regular file");
}

TEST_F(CheckpointTest, WithoutTheChecksumATornFileIsBelieved) {
  write(20);
  flip_bit(20, 300);
  policy.checksum = false;
  const LoadedCheckpoint loaded = load_newest_checkpoint(policy);
  ASSERT_TRUE(loaded.newest.has_value());
  EXPECT_NE(loaded.newest->weights, weights_of(20));
}

TEST_F(CheckpointTest, AnUnfinishedFileIsNeitherLoadedNorKept) {
  write(10);
  const fs::path unfinished = path(20).string() + ".tmp";
  fs::copy_file(path(10), unfinished);
  EXPECT_EQ(load_newest_checkpoint(policy).newest->step, 10);
  remove_unfinished_checkpoints(policy);
  EXPECT_FALSE(fs::exists(unfinished));
  EXPECT_TRUE(fs::exists(path(10)));
}

TEST_F(CheckpointTest, AFailureSaysWhatAndWhereAndKeepsTheOldFiles) {
  write(10);
  fs::create_directories(path(20).string() + ".tmp/in the way");
  const auto failure = write_checkpoint(policy, {20, weights_of(20)});
  ASSERT_TRUE(failure.has_value());
  EXPECT_THAT(*failure, HasSubstr("cannot create " + path(20).string()));
  EXPECT_EQ(load_newest_checkpoint(policy).newest->step, 10);
}

TEST_F(CheckpointTest, AnotherVersionIsNamed) {
  write(10);
  write(20);
  std::fstream(path(20), std::ios::in | std::ios::out | std::ios::binary).seekp(6).write("07", 2);
  expect_step_10_and_a_rejection("is of version 07, this trainer reads 01");
}

TEST_F(CheckpointTest, WhatCannotBeReadIsRejected) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  write(10);
  write(20);
  fs::permissions(path(20), fs::perms::none);
  expect_step_10_and_a_rejection("Permission denied");
}

// A pipe with that name has no bytes: opening it must not wait for a writer.
TEST_F(CheckpointTest, APipeIsNotWaitedFor) {
  write(10);
  ASSERT_EQ(::mkfifo(path(20).c_str(), 0600), 0);
  expect_step_10_and_a_rejection("is not a regular file");
}

TEST_F(CheckpointTest, ADirectoryThatCannotBeReadIsNoNewBeginning) {
  std::ofstream(policy.directory + "/file") << "x";
  policy.directory += "/file";
  const LoadedCheckpoint loaded = load_newest_checkpoint(policy);
  EXPECT_THAT(loaded.unusable, HasSubstr("cannot read " + policy.directory));
  policy.directory = fs::path(policy.directory).parent_path();
}

// The rejected file may be all that is left of a training: writing the same step again must not change it.
TEST_F(CheckpointTest, WhatWasRejectedIsNeverReplacedOrRemoved) {
  write(10);
  std::ofstream(path(20)) << "somebody else's";
  fs::create_symlink(path(10), path(30));
  for (int64_t step : {20, 30, 40, 50}) write(step);
  std::ifstream foreign(path(20));
  std::string text;
  std::getline(foreign, text);
  EXPECT_EQ(text, "somebody else's");
  EXPECT_TRUE(fs::is_symlink(path(30)));
  EXPECT_EQ(load_newest_checkpoint(policy).newest->step, 50);
}

TEST_F(CheckpointTest, ADamagedOneDoesNotCountAmongTheTwoThatAreKept) {
  write(10);
  write(20);
  flip_bit(20, 300);
  write(30);
  EXPECT_TRUE(fs::exists(path(10)) && fs::exists(path(30)));
}

TEST_F(CheckpointTest, WithoutFallbackADamagedNewestEndsTheSearch) {
  write(10);
  write(20);
  flip_bit(20, 300);
  policy.fallback = false;
  EXPECT_FALSE(load_newest_checkpoint(policy).newest);
}

TEST_F(CheckpointTest, TheNewestCopyOfAnyPlaceIsTaken) {
  write(10);
  CheckpointPolicy other = policy;
  other.directory += "/copies";
  EXPECT_EQ(write_copies({policy, other}, {20, weights_of(20)}).whole, 2);
  fs::remove(path(20));
  const LoadedCheckpoint loaded = load_newest_copy({policy, other});
  EXPECT_EQ(loaded.newest->step, 20);
  EXPECT_EQ(loaded.newest->weights, weights_of(20));
  EXPECT_THAT(loaded.rejected, IsEmpty());
}

TEST_F(CheckpointTest, APlaceThatFailsCostsNothingWhileAnotherHolds) {
  std::ofstream(policy.directory + "/file") << "x";
  CheckpointPolicy broken = policy;
  broken.directory += "/file";
  const WrittenCopies written = write_copies({broken, policy}, {20, weights_of(20)});
  EXPECT_EQ(written.whole, 1);
  EXPECT_THAT(written.failed, ElementsAre(HasSubstr("/file")));
  const LoadedCheckpoint loaded = load_newest_copy({broken, policy});
  EXPECT_EQ(loaded.newest->step, 20);
  EXPECT_EQ(loaded.unusable, "");
  EXPECT_NE(load_newest_copy({broken}).unusable, "");
}

TEST_F(CheckpointTest, WithoutRenameTheSameBytesAreWrittenInPlace) {
  write(10);
  policy.rename = false;
  policy.fsync = false;
  write(20);
  EXPECT_EQ(load_newest_checkpoint(policy).newest->weights, weights_of(20));
}

}  // namespace
}  // namespace trainer
