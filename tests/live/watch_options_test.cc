// watch_options_test: how the limits of a scenario, or the options of watch, become the patience of the
// diagnosis; and when a watched job is ended.
#include "harness/live/watch_options.h"

#include <gtest/gtest.h>

namespace rankfault::testing {
namespace {

using std::chrono::seconds;

Limits with(Duration slow_after, Duration hung_after) { return {{}, slow_after, hung_after}; }

TEST(DiagnoseOptionsOf, WhatIsNotGivenIsTheDiagnosisOwn) {
  EXPECT_EQ(diagnose_options({}).slow_after, DiagnoseOptions().slow_after);
  EXPECT_EQ(diagnose_options({}).hung_after, DiagnoseOptions().hung_after);
}

TEST(DiagnoseOptionsOf, SlowNeverComesAfterHung) {
  EXPECT_EQ(diagnose_options(with({}, seconds(1))).slow_after, seconds(1));
  EXPECT_EQ(diagnose_options(with({}, seconds(5))).slow_after, DiagnoseOptions().slow_after);
  EXPECT_EQ(diagnose_options(with(seconds(60), {})).hung_after, seconds(60));
  EXPECT_EQ(diagnose_options(with(seconds(1), {})).hung_after, DiagnoseOptions().hung_after);
}

TEST(Watching, ASlowRankDoesNotEndTheJob) {
  Finding f;
  f.kind = "slow_rank";
  EXPECT_FALSE(cannot_go_on({{f}}));
  Finding hang;
  hang.kind = "wedged";
  EXPECT_TRUE(cannot_go_on({{f, hang}}));
}

TEST(Watching, AProvenFindingBelowAnInferredOneEndsTheJob) {
  Finding head, proven;
  head.kind = "missing_call";
  proven.kind = "call_mismatch";
  EXPECT_FALSE(cannot_go_on({{head, proven}}));
  proven.confidence = Confidence::kProven;
  proven.claim = Claim::kCannotReturn;
  EXPECT_TRUE(cannot_go_on({{head, proven}}));
}

}  // namespace
}  // namespace rankfault::testing
