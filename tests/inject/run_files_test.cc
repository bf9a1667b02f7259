// run_files_test: only files that the job itself made below its TMPDIR are found, and only those are harmed.
#include "harness/inject/run_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rankfault::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class RunFiles : public testing::Test {
 protected:
  RunFiles() {
    char form[] = "/tmp/rftest.XXXXXX";
    root = ::mkdtemp(form);
    tmp = root + "/tmp";
    fs::create_directories(tmp + "/checkpoints");
    begin = HostClock::now();
  }
  ~RunFiles() override { fs::remove_all(root); }

  static std::string make(const std::string& path, const std::string& text = "0123456789") {
    std::ofstream(path) << text;
    return path;
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> found(const std::string& pattern) const {
    std::vector<std::string> paths;
    for (const RunFile& file : run_files(tmp, pattern, begin)) paths.push_back(file.path);
    return paths;
  }

  std::string root, tmp;
  Instant begin;
};

TEST_F(RunFiles, FindsWhatMatchesBelowTheTmpdir) {
  const std::string one = make(tmp + "/checkpoints/ckpt-10.bin");
  make(tmp + "/checkpoints/other");
  EXPECT_THAT(found("checkpoints/ckpt-*.bin"), ElementsAre(one));
  EXPECT_THAT(found("*ckpt-10.bin"), ElementsAre(one));
  EXPECT_THAT(found("ckpt-10.bin"), IsEmpty());
}

TEST_F(RunFiles, NeverGoesThroughALinkOrToAFileWithASecondName) {
  make(root + "/outside");
  fs::create_directories(root + "/folder");
  make(root + "/folder/ckpt-1.bin");
  fs::create_symlink(root + "/outside", tmp + "/ckpt-2.bin");
  fs::create_symlink(root + "/folder", tmp + "/link");
  fs::create_hard_link(root + "/outside", tmp + "/ckpt-3.bin");
  EXPECT_THAT(found("*ckpt-*"), IsEmpty());
  EXPECT_THAT(found("link/ckpt-1.bin"), IsEmpty());
  EXPECT_THAT(found("../outside"), IsEmpty());
}

TEST_F(RunFiles, WhatWasThereBeforeTheRunIsNotTheJobs) {
  make(tmp + "/ckpt-1.bin");
  EXPECT_THAT(run_files(tmp, "*", HostClock::now() + 1s), IsEmpty());
  EXPECT_THAT(run_files("", "*", begin), IsEmpty());
}

TEST_F(RunFiles, HarmsJustAsAsked) {
  const std::string path = make(tmp + "/ckpt-1.bin");
  auto files = run_files(tmp, "ckpt-1.bin", begin);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_TRUE(flip_bit(files[0], -1, 0).ok());
  EXPECT_TRUE(flip_bit(files[0], 0, 1).ok());
  EXPECT_EQ(text_of(path), "2123456788");
  EXPECT_FALSE(flip_bit(files[0], 10, 0).ok());
  EXPECT_TRUE(truncate_file(files[0], 4).ok());
  EXPECT_EQ(text_of(path), "2123");
  EXPECT_FALSE(truncate_file(files[0], 4).ok());  // the file is not shorter: no harm
}

TEST_F(RunFiles, RemovesTheNameOnlyOfWhatItLookedAt) {
  const std::string path = make(tmp + "/ckpt-1.bin");
  auto files = run_files(tmp, "ckpt-1.bin", begin);
  ASSERT_EQ(files.size(), 1u);
  make(tmp + "/new");
  fs::rename(tmp + "/new", path);
  EXPECT_FALSE(unlink_file(files[0]).ok());
  EXPECT_TRUE(fs::exists(path));
  auto again = run_files(tmp, "ckpt-1.bin", begin);
  EXPECT_TRUE(unlink_file(again.at(0)).ok());
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace rankfault::test
