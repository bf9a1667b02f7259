// torch_nccl_passes_test: calls that autograd makes from a thread of its own have the Python frames of the
// thread that called backward(), of that pass alone.
#include <gmock/gmock.h>

#include "tests/backends/gloo/python_calls.h"
#include "tests/backends/gloo/rank_job.h"
#include "tests/backends/torch_nccl/over_double.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::Each;
using testing::ElementsAre;

using Functions = std::vector<std::string>;

// The functions of the script that led to a call, innermost first.
Functions own_functions(const Json& frames) {
  Functions names;
  for (const Json& frame : frames)
    if (frame[0].get<std::string>().ends_with("/passes.py")) names.push_back(frame[1]);
  return names;
}

class TorchNcclPasses : public testing::Test {
 protected:
  void SetUp() override {
    python_ = torch_nccl_python();
    if (python_.empty()) GTEST_SKIP() << kNoTorchNccl;
  }
  // What led to the sums of each number of elements, on rank 0 and on rank 1.
  using Sums = std::map<uint64_t, std::vector<Functions>>;
  Sums sums_of(const std::string& kind) const {
    const std::string script = source_dir() + "/tests/ranks/torch_nccl/passes.py";
    const RankJobEnd end =
        run_ranks({.argv = {python_, script, kind}, .ranks = 2, .env = over_double(scratch_.path())});
    EXPECT_THAT(end.status, Each(0)) << said_by_failed(end);
    Sums sums;
    for (const auto& [rank, record] : end.records) {
      const PythonCalls frames(record);
      for (const rf_record& r : record.records(RF_LIB_NCCL))
        if (r.phase == RF_PHASE_ENTER && r.op == RF_OP_ALL_REDUCE)
          sums[r.count].push_back(own_functions(frames.frames_of(r)));
    }
    return sums;
  }
  std::string python_;
  Scratch scratch_;
};

// One on each of the two ranks.
auto both(const Functions& led_to_it) { return ElementsAre(led_to_it, led_to_it); }

TEST_F(TorchNcclPasses, TheSumsOfDdpHaveTheLinesThatCalledBackward) {
  EXPECT_THAT(sums_of("of_ddp")[11], both({"of_ddp", "<module>"}));
}

TEST_F(TorchNcclPasses, TheFramesOfAHookAreContinued) {
  EXPECT_THAT(sums_of("of_a_hook")[12], both({"add_up", "<lambda>", "of_a_hook", "<module>"}));
}

TEST_F(TorchNcclPasses, APassInsideAPassHasTheFramesOfBoth) {
  Sums sums = sums_of("nested");
  EXPECT_THAT(sums[13], both({"add_up", "<lambda>", "inner_pass", "<lambda>", "nested", "<module>"}));
  EXPECT_THAT(sums[14], both({"add_up", "<lambda>", "nested", "<module>"}));
}

TEST_F(TorchNcclPasses, TwoAtTheSameTimeHaveTheirOwnLines) {
  Sums sums = sums_of("at_the_same_time");
  EXPECT_THAT(sums[16], both({"first_pass", "at_the_same_time", "<module>"}));
  EXPECT_THAT(sums[17], both({"second_pass"}));
}

TEST_F(TorchNcclPasses, APassThatFailedLendsItsFramesToNoLaterCall) {
  Sums sums = sums_of("after_a_failure");
  EXPECT_THAT(sums[15], both({"add_up", "after_a_failure", "<module>"}));
  EXPECT_THAT(sums[11], both({"of_ddp", "after_a_failure", "<module>"}));
}

TEST_F(TorchNcclPasses, APassOnTheHostHasTheFramesOfItsThreadOnce) {
  Sums sums = sums_of("on_the_host");
  EXPECT_THAT(sums[18], both({"add_up", "<lambda>", "on_the_host", "<module>"}));
  EXPECT_THAT(sums[19], both({"add_up", "<lambda>", "inner_pass", "<lambda>", "on_the_host", "<module>"}));
}

}  // namespace
}  // namespace rankfault::test
