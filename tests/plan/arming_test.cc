// arming_test: the control page contains exactly what the plan says.
#include "harness/plan/arming.h"

#include <memory>

#include "fake_oracle.h"
#include "planning.h"

namespace rankfault {
namespace {

bool waits_on(const rf_control& page, rf_op op) { return page.armed_ops[op / 64] >> (op % 64) & 1; }

class Arming : public testing::Test {
 protected:
  void arm_with(const std::string& faults, int attempt = 0) {
    plan = good_plan(faults);
    arm(plan, attempt, *page);
  }
  std::unique_ptr<rf_control> page = std::make_unique<rf_control>();
  Plan plan;
};

TEST_F(Arming, WritesTriggerAndVerb) {
  arm_with("  - {kind: rank_kill, ranks: [2], at: {op: all_reduce, nth: 3, step: 4, comm: world}}\n");
  ASSERT_EQ(page->armed_count, 1u);
  const rf_armed& armed = page->armed[0];
  EXPECT_EQ(armed.id, 0u);
  EXPECT_EQ(armed.verb, static_cast<uint32_t>(RF_VERB_OUTSIDE));
  EXPECT_EQ(armed.rank, 2);
  EXPECT_EQ(armed.attempt, -1);
  EXPECT_EQ(armed.op, static_cast<uint32_t>(RF_OP_ALL_REDUCE));
  EXPECT_EQ(armed.nth, 3u);
  EXPECT_EQ(armed.step, 4);
  EXPECT_EQ(armed.comm_select, static_cast<uint32_t>(RF_COMM_IS_WORLD));
  EXPECT_EQ(armed.times, 1u);
  EXPECT_EQ(armed.ask, 1u);
  EXPECT_EQ(armed.after, -1);
  EXPECT_TRUE(waits_on(*page, RF_OP_ALL_REDUCE));
  EXPECT_FALSE(waits_on(*page, RF_OP_BARRIER));
  EXPECT_EQ(page->libc_points, 0u);
}

TEST_F(Arming, TheLibraryIsThatOfTheTrigger) {
  arm_with(
      "  - {id: a, kind: rank_kill, ranks: [0], at: {op: barrier}}\n"
      "  - {id: b, kind: rank_kill, ranks: [0], at: {op: barrier, library: nccl}}\n"
      "  - {id: c, kind: rank_kill, ranks: [0], at: {op: barrier, library: c10d}}\n");
  EXPECT_EQ(page->armed[0].library, static_cast<uint32_t>(RF_LIB_NONE));
  EXPECT_EQ(page->armed[1].library, static_cast<uint32_t>(RF_LIB_NCCL));
  EXPECT_EQ(page->armed[2].library, static_cast<uint32_t>(RF_LIB_C10D));
}

TEST_F(Arming, AnyCollectiveArmsThemAllAndNoFileCall) {
  arm_with("  - {kind: rank_kill, ranks: [2], at: {step: 4}}\n");
  EXPECT_TRUE(waits_on(*page, RF_OP_ALL_REDUCE));
  EXPECT_TRUE(waits_on(*page, RF_OP_BARRIER));
  EXPECT_FALSE(waits_on(*page, RF_OP_SEND));
  EXPECT_FALSE(waits_on(*page, RF_OP_FILE_OPEN));
}

TEST_F(Arming, FilePointsCarryTheirPattern) {
  arm_with("  - {kind: rank_kill, ranks: [0], at: {file_op: rename, path: '*ckpt*', nth: 2}}\n");
  EXPECT_EQ(page->libc_points, 1u);
  EXPECT_STREQ(page->armed[0].path, "*ckpt*");
  EXPECT_EQ(page->armed[0].op, static_cast<uint32_t>(RF_OP_FILE_RENAME));
}

TEST_F(Arming, MarksAndPhasesAreHashed) {
  arm_with("  - {kind: rank_kill, ranks: [0], at: {mark: half, phase: train}}\n");
  EXPECT_EQ(page->armed[0].op, static_cast<uint32_t>(RF_OP_MARK));
  EXPECT_EQ(page->armed[0].mark, rf_hash_text("half"));
  EXPECT_EQ(page->armed[0].phase, rf_hash_text("train"));
}

TEST_F(Arming, OnceMeansOnceARunUnlessEachAttemptIsAskedFor) {
  const char faults[] =
      "  - {id: a, kind: rank_kill, ranks: [0], at: {op: barrier}}\n"
      "  - {id: b, kind: rank_kill, ranks: [1], each_attempt: true, at: {op: barrier}}\n";
  arm_with(faults);
  for (rf_armed& armed : {std::ref(page->armed[0]), std::ref(page->armed[1])}) armed.fired = armed.done = 1;
  arm_with(faults, 1);
  EXPECT_EQ(page->armed[0].fired, 1u);
  EXPECT_EQ(page->armed[0].done, 1u);
  EXPECT_EQ(page->armed[1].fired, 0u);
}

}  // namespace
}  // namespace rankfault
