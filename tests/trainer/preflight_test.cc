// Preflight tests: each planted defect is named, and without a defect none is.
#include "workloads/trainer/preflight.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "workloads/trainer/collectives.h"
#include "workloads/trainer/file.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Preflight, VariablesThatDoNothingAreNamed) {
  EXPECT_THAT(useless_variables({{"NCCL_TIMEOUT", "600"}, {"PATH", "/bin"}}),
              ElementsAre(HasSubstr("NCCL_TIMEOUT=600 does nothing")));
  EXPECT_THAT(useless_variables({{"NCCL_ASYNC_ERROR_HANDLING", "1"}}),
              ElementsAre(HasSubstr("TORCH_NCCL_ASYNC_ERROR_HANDLING")));
  EXPECT_THAT(useless_variables({{"NCCL_DEBUG", "INFO"}, {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"}}),
              IsEmpty());
}

TEST(Preflight, TooLittleSpaceIsNamed) {
  const std::string place = fs::temp_directory_path() / "not there yet" / "checkpoints";
  EXPECT_THAT(too_little_space(place, UINT64_MAX),
              ElementsAre(AllOf(HasSubstr(place), HasSubstr("are needed"))));
  EXPECT_THAT(too_little_space(place, 1), IsEmpty());
}

TEST(Preflight, TooFewDescriptorsAreNamed) {
  EXPECT_THAT(too_few_descriptors(64, 64), ElementsAre(HasSubstr("only 64 descriptors")));
  EXPECT_THAT(too_few_descriptors(1024, 64), IsEmpty());
}

class StaleSegments : public testing::Test {
 protected:
  StaleSegments() {
    std::string form = (fs::temp_directory_path() / "stale_segments.XXXXXX").string();
    directory = mkdtemp(form.data());
  }
  ~StaleSegments() override { fs::remove_all(directory); }
  std::string make(const std::string& name, const std::string& bytes, int mode = 0600) {
    const std::string path = directory + "/" + name;
    std::ofstream(path) << bytes;
    ::chmod(path.c_str(), static_cast<mode_t>(mode));
    return path;
  }
  std::string directory;
};

TEST_F(StaleSegments, OneThatNobodyHoldsIsNamed) {
  const std::string path = make("vader_segment.host.0.1", "pages");
  EXPECT_THAT(stale_segments(directory), ElementsAre(HasSubstr(path + " is held by no process")));
}

TEST_F(StaleSegments, OneThatAProcessHoldsIsNot) {
  const File held(::open(make("nccl-AbCdEf", "pages").c_str(), O_RDONLY));
  ASSERT_TRUE(held.is_open());
  EXPECT_THAT(stale_segments(directory), IsEmpty());
}

TEST_F(StaleSegments, EmptyAndForbiddenOnesAreToldSo) {
  make("sm_segment.0", "");
  make("torch_1", "pages", 0000);
  EXPECT_THAT(
      stale_segments(directory),
      testing::UnorderedElementsAre(HasSubstr("it is empty"), HasSubstr("its owner may not open it")));
}

TEST_F(StaleSegments, WhatNoLibraryMakesIsNobodysBusiness) {
  make("my-precious", "data");
  fs::create_symlink(make("data", "x"), directory + "/nccl-link");
  EXPECT_THAT(stale_segments(directory), IsEmpty());
}

// A world that sums wrongly.
class WrongWorld : public Collectives {
 public:
  explicit WrongWorld(int64_t error) : error_(error) {}
  int rank() const override { return 1; }
  int size() const override { return 3; }
  void sum(int64_t* numbers, size_t) override { numbers[0] += 1 + 3 + error_; }
  void sum(float*, size_t) override {}
  int64_t max(int64_t number) override { return number; }
  std::vector<uint64_t> all_gather(uint64_t mine) override { return {mine}; }
  void broadcast(void*, size_t, int) override {}
  void barrier() override {}
  std::unique_ptr<Collectives> group(const std::string&, const std::vector<int>&) override { return nullptr; }
  void set_limit(Limit) override {}
  void leave(int) override {}

 private:
  int64_t error_;
};

TEST(Preflight, AWrongSumIsNamed) {
  WrongWorld right(0), wrong(1);
  EXPECT_THAT(wrong_all_reduce(right), IsEmpty());
  EXPECT_THAT(wrong_all_reduce(wrong), ElementsAre("a test all-reduce gave 7, right is 6"));
}

}  // namespace
}  // namespace trainer
