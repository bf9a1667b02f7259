// stale_segment_test: a leftover gets its full name and a line in the undo list, and takes no existing name.
#include "harness/inject/stale_segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace rankfault::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class StaleSegment : public testing::Test {
 protected:
  StaleSegment() {
    char form[] = "/tmp/rftest.XXXXXX";
    folder = ::mkdtemp(form);
    path = "/dev/shm/" + fs::path(folder).filename().string();
  }
  ~StaleSegment() override {
    fs::remove_all(folder);
    fs::remove(path);
  }
  Status leave(const std::string& name, int64_t size = 70000, int byte = 3) {
    Result<UndoList> undo = UndoList::open(folder + "/undo");
    return leave_segment(name, size, byte, *undo);
  }
  Status replace(const std::string& name, int64_t size = 70000) {
    Result<UndoList> undo = UndoList::open(folder + "/undo");
    return replace_segment(name, size, 3, *undo);
  }
  // Names in /dev/shm that begin with the segment's name.
  long beside() const {
    long names = 0;
    for (const auto& entry : fs::directory_iterator("/dev/shm"))
      names += entry.path().string().starts_with(path) ? 1 : 0;
    return names;
  }
  static std::string text_of(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string folder, path;
};

TEST_F(StaleSegment, IsFullOfWhatWasAskedAndOnTheUndoList) {
  const Status left = leave(path);
  ASSERT_TRUE(left.ok()) << left.error().to_string();
  EXPECT_EQ(text_of(path), std::string(70000, '\3'));
  struct stat st {};
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  const std::string undo = text_of(folder + "/undo");
  EXPECT_THAT(undo, StartsWith("remove-file " + std::to_string(st.st_dev) + " " + std::to_string(st.st_ino)));
  EXPECT_THAT(undo, HasSubstr(path + "\n"));
}

TEST_F(StaleSegment, OfNoBytesIsEmpty) {
  ASSERT_TRUE(leave(path, 0, 0).ok());
  EXPECT_EQ(fs::file_size(path), 0u);
}

TEST_F(StaleSegment, TakesNobodysName) {
  std::ofstream(path) << "a neighbour's";
  EXPECT_FALSE(leave(path).ok());
  EXPECT_EQ(text_of(path), "a neighbour's");
}

TEST_F(StaleSegment, IsOnlyUnderANameThatCanBeKnown) {
  EXPECT_FALSE(leave(path + "-XXXXXX").ok());
  EXPECT_FALSE(leave("/tmp/elsewhere").ok());
  EXPECT_FALSE(leave("/dev/shm/../tmp/elsewhere").ok());
  EXPECT_FALSE(leave("/dev/shm/").ok());
}

TEST_F(StaleSegment, TakesThePlaceOfTheOneThere) {
  std::ofstream(path) << "the job's own";
  std::ifstream held(path);
  const Status laid = replace(path);
  ASSERT_TRUE(laid.ok()) << laid.error().to_string();
  EXPECT_EQ(text_of(path), std::string(70000, '\3'));
  EXPECT_EQ(beside(), 1);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(held), {}), "the job's own")
      << "who has it open keeps it";
  struct stat st {};
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  const std::string undo = text_of(folder + "/undo");
  EXPECT_THAT(undo, HasSubstr(" " + std::to_string(st.st_ino) + " "));
  EXPECT_THAT(undo, HasSubstr(" " + path + "\n"));
}

TEST_F(StaleSegment, WhatCannotBeReplacedIsLeft) {
  std::ofstream(path) << "the job's own";
  EXPECT_FALSE(replace(path, -1).ok()) << "of no possible size";
  EXPECT_EQ(text_of(path), "the job's own");
  std::ofstream(path + ".rankfault-" + std::to_string(::getpid())) << "in the way";
  EXPECT_FALSE(replace(path).ok());
  EXPECT_EQ(text_of(path), "the job's own");
  fs::remove(path + ".rankfault-" + std::to_string(::getpid()));
  EXPECT_EQ(beside(), 1);
}

TEST_F(StaleSegment, LeavesNothingWhereItCannotTakeThePlace) {
  fs::create_directory(path);
  EXPECT_FALSE(replace(path).ok()) << "a directory";
  EXPECT_EQ(beside(), 1);
}

}  // namespace
}  // namespace rankfault::test
