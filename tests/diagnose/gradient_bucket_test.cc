// gradient_bucket_test: the all_reduces of DDP are numbered within their backward().
#include "harness/diagnose/model/gradient_bucket.h"

#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

constexpr uint64_t kBackward = 0x5000, kLoss = 0x6000;

// One rank is a step behind the other, which waits in the buckets of its next backward().
class GradientBucket : public ::testing::Test {
 protected:
  GradientBucket() : job_(2, RF_LIB_C10D) {}
  static CallSpec bucket(uint64_t count, bool first) {
    CallSpec call = all_reduce(count, kBackward);
    if (first) call.flags |= RF_CALL_NEW_PASS;
    return call;
  }
  void backward() {
    job_.everyone(bucket(100, true)).everyone(bucket(70, false)).everyone(bucket(70, false));
  }
  // What the side of rank 0 says of its open call.
  std::string side_of_0() {
    Timeline timeline = job_.build();
    for (ProcessView& p : timeline.processes)
      p.source_lines = {{kBackward, "backward() in step() at train.py:47"},
                        {kLoss, "evaluate() at train.py:31"}};
    const Findings found = diagnose(timeline);
    return found.all.empty() || found.all[0].sides.empty() ? "" : found.all[0].sides[0].what;
  }
  void waits_alone(const CallSpec& call) { job_.blocked(0, call).killed(1); }

  TimelineBuilder job_;
};

TEST_F(GradientBucket, HasItsNumberInTheBackwardAndTheirNumber) {
  backward();
  backward();  // without another call between them, as when gradients of two batches are summed
  job_.everyone(bucket(100, true));
  waits_alone(bucket(70, false));
  EXPECT_THAT(side_of_0(), ::testing::HasSubstr("call 8 (DDP gradient bucket 2 of 3)"));
}

TEST_F(GradientBucket, HasNoTotalInTheFirstBackward) {
  job_.everyone(bucket(100, true));
  waits_alone(bucket(70, false));
  EXPECT_THAT(side_of_0(), ::testing::HasSubstr("call 2 (DDP gradient bucket 2)"));
}

// DDP arranges the buckets anew after its first backward().
TEST_F(GradientBucket, HasNoTotalIfTheLastBackwardHadOtherBuckets) {
  backward();
  waits_alone(bucket(170, true));
  EXPECT_THAT(side_of_0(), ::testing::HasSubstr("call 4 (DDP gradient bucket 1)"));
}

TEST_F(GradientBucket, IsNoCallThatTheProgramMakesItself) {
  backward();
  waits_alone(all_reduce(1, kLoss));
  EXPECT_THAT(side_of_0(), ::testing::HasSubstr("call 4"));
  EXPECT_THAT(side_of_0(), ::testing::Not(::testing::HasSubstr("bucket")));
}

TEST_F(GradientBucket, HasNoNumberIfTheBeginOfItsBackwardIsLost) {
  job_.everyone(bucket(70, false));
  waits_alone(bucket(70, false));
  EXPECT_THAT(side_of_0(), ::testing::Not(::testing::HasSubstr("bucket")));
}

}  // namespace
}  // namespace rankfault::testing
