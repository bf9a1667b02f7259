// reported_test: a finding that was reported counts, also when it was withdrawn; one that was not reported fails.
#include <gmock/gmock.h>

#include "tests/judge/facts.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

// A slow rank 2, reported while it was slow, and withdrawn later.
Facts slow_once(const std::string& yaml) {
  Facts facts;
  facts.fault("slow", {2}).struck("slow", 100).expect(yaml);
  Finding slow = finding("slow_rank", {2}, Confidence::kInferred);
  slow.text = "rank 2 runs outside any call; 2.5 times as long as the others";
  facts.line("finding", {{"finding", to_json(slow)}}, 300);
  slow.withdrawn = true;
  facts.line("finding", {{"finding", to_json(slow)}}, 900);
  facts.found(finding("none", {}, Confidence::kInferred));
  return facts;
}

TEST(Reported, PassesThoughItWasTakenBack) {
  for (const char* yaml : {"reported: {kind: slow_rank}", "reported: {kind: slow_rank, ranks: victims}",
                           "reported: {kind: slow_rank, ranks: [2], saying: 2.5 times as long}",
                           "reported: {any_of: [{kind: stuck_outside}, {kind: slow_rank, ranks: [2]}]}"}) {
    EXPECT_EQ(slow_once(yaml).result().verdict, Verdict::kPass) << yaml;
    EXPECT_TRUE(slow_once(yaml).decided()) << yaml;
  }
}

TEST(Reported, FailsWhenAnyPartOfItDiffers) {
  for (const char* yaml :
       {"reported: {kind: stuck_outside}", "reported: {kind: slow_rank, ranks: [1]}",
        "reported: {kind: slow_rank, ranks: [1, 2]}", "reported: {kind: slow_rank, saying: 3 times}",
        "reported: {any_of: [{kind: stuck_outside}, {kind: slow_rank, ranks: [1]}]}"}) {
    EXPECT_EQ(slow_once(yaml).result().verdict, Verdict::kFail) << yaml;
    EXPECT_FALSE(slow_once(yaml).decided()) << yaml;
  }
  EXPECT_THAT(slow_once("reported: {kind: wedged}").result().because,
              HasSubstr("reported instead: rank 2 runs outside"));
}

TEST(Reported, RefusesAKindThatNoFindingHas) {
  const Oracle* reported = Catalog<Oracle>::instance().find("reported");
  Facts facts;
  facts.expect("reported: {kind: slow_rnk}");
  const Status checked = reported->check(facts.facts().plan.scenario.expect.at(0), facts.facts().plan.scenario);
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().to_string(), HasSubstr("no finding has the kind \"slow_rnk\" (did you mean"));
}

TEST(Reported, IsUnknownWhereNobodyLooked) {
  Facts facts;
  facts.fault("slow", {2}).struck("slow", 100).expect("reported: {kind: slow_rank}");
  EXPECT_EQ(facts.result().verdict, Verdict::kUnknown);
}

TEST(Reported, WhatIsOnlyTakenBackWasNotToldHere) {
  Facts facts;
  Finding slow = finding("slow_rank", {2}, Confidence::kInferred);
  slow.withdrawn = true;
  facts.fault("slow", {2}).struck("slow", 100).expect("reported: {kind: slow_rank}");
  facts.line("finding", {{"finding", to_json(slow)}}, 300).found(finding("none", {}, Confidence::kInferred));
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
}

}  // namespace
}  // namespace rankfault::test
