// blamed_test: the oracle wants the culprit and no other rank named, and answers unknown without a look.
#include <gmock/gmock.h>

#include "tests/judge/facts.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

Facts kill_of_2(const std::string& yaml) {
  Facts facts;
  facts.fault("kill", {2}).struck("kill", 100, -1, 3).expect(yaml);
  return facts;
}

Verdict verdict_of(const std::string& yaml, const Finding& f) {
  return kill_of_2(yaml).found(f).result().verdict;
}

TEST(Blamed, PassesWhenTheFindingIsTheOneExpected) {
  const Finding dead = finding("dead_rank", {2});
  EXPECT_EQ(verdict_of("blamed: {kind: dead_rank, ranks: [2], op: all_reduce, comm: world, seq: 3}", dead),
            Verdict::kPass);
  EXPECT_EQ(verdict_of("blamed: {kind: dead_rank, ranks: victims, seq: fired, confidence: proven}", dead),
            Verdict::kPass);
  EXPECT_EQ(verdict_of("blamed: {any_of: [{kind: wedged}, {kind: dead_rank, ranks: [2]}]}", dead),
            Verdict::kPass);
}

TEST(Blamed, FailsWhenAnyPartOfItDiffers) {
  const Finding dead = finding("dead_rank", {2});
  for (const char* yaml :
       {"blamed: {kind: missing_call}", "blamed: {kind: dead_rank, ranks: [1]}",
        "blamed: {kind: dead_rank, ranks: [1, 2]}", "blamed: {kind: dead_rank, op: barrier}",
        "blamed: {kind: dead_rank, seq: 4}", "blamed: {kind: dead_rank, confidence: inferred}",
        "blamed: {kind: dead_rank, ranks: []}",
        "blamed: {any_of: [{kind: wedged}, {kind: dead_rank, ranks: [0]}]}"})
    EXPECT_EQ(verdict_of(yaml, dead), Verdict::kFail) << yaml;
}

TEST(Blamed, FailsWhenSomebodyElseIsProvenGuiltyAsWell) {
  Facts facts = kill_of_2("blamed: {kind: dead_rank, ranks: [2]}");
  facts.found(finding("dead_rank", {2})).found(finding("missing_call", {0}));
  EXPECT_EQ(facts.result().verdict, Verdict::kFail);
  EXPECT_THAT(facts.result().because, HasSubstr("wrongly"));
}

// An unsafe program that ended well changes only expectations that ask about it. These are unknown where the
// replay gave up.
TEST(Blamed, CountsUnsafeOnlyWhereAsked) {
  for (const auto& [yaml, unknown, without, with] :
       {std::tuple("blamed: {kind: none}", Verdict::kPass, Verdict::kPass, Verdict::kPass),
        std::tuple("blamed: {kind: none, safe: true}", Verdict::kUnknown, Verdict::kPass, Verdict::kFail),
        std::tuple("blamed: {kind: unsafe}", Verdict::kUnknown, Verdict::kFail, Verdict::kPass),
        std::tuple("blamed: {kind: unsafe, op: barrier}", Verdict::kUnknown, Verdict::kFail,
                   Verdict::kFail)}) {
    Facts facts = kill_of_2(yaml);
    facts.found(finding("none", {}));
    EXPECT_EQ(facts.result().verdict, unknown) << yaml;
    facts.facts().findings.strict_known = true;
    EXPECT_EQ(facts.result().verdict, without) << yaml;
    facts.facts().findings.unsafe = {finding("unsafe", {}, Confidence::kStrict, "send")};
    EXPECT_EQ(facts.result().verdict, with) << yaml;
  }
}

TEST(Blamed, TakesConsequencesForNoCauses) {
  Facts facts = kill_of_2("blamed: {kind: dead_rank, ranks: [2]}");
  Finding later = finding("exited_rank", {0});
  later.caused_by = 0;
  EXPECT_EQ(facts.found(finding("dead_rank", {2})).found(later).result().verdict, Verdict::kPass);
  Facts other = kill_of_2("blamed: {kind: exited_rank, ranks: [0]}");
  EXPECT_EQ(other.found(finding("dead_rank", {2})).found(later).result().verdict, Verdict::kFail);
}

TEST(Blamed, IsDecidedByWhatIsProvenAlone) {
  const char* wanted = "blamed: {kind: missing_call}";
  const Finding guess = finding("missing_call", {}, Confidence::kInferred);
  Finding pairing = finding("call_mismatch", {});
  EXPECT_TRUE(kill_of_2(wanted).found(finding("missing_call", {2})).decided());
  EXPECT_FALSE(kill_of_2(wanted).found(guess).decided());
  EXPECT_FALSE(kill_of_2(wanted).found(guess).found(pairing).decided());
  pairing.caused_by = 0;  // the guess only explains the proven finding
  EXPECT_TRUE(kill_of_2(wanted).found(guess).found(pairing).decided());
  EXPECT_FALSE(kill_of_2("blamed: {kind: none}").found(finding("missing_call", {2})).decided());
}

TEST(Blamed, FailsWhenNothingWasFound) {
  EXPECT_EQ(verdict_of("blamed: {kind: dead_rank, ranks: [2]}", finding("none", {})), Verdict::kFail);
}

TEST(Blamed, IsUnknownWithoutALook) {
  EXPECT_EQ(kill_of_2("blamed: {kind: dead_rank}").result().verdict, Verdict::kUnknown);
  EXPECT_EQ(Facts().expect("blamed: none").result().verdict, Verdict::kUnknown);
  EXPECT_EQ(Facts().expect("blamed: none").found(finding("cannot_say", {})).result().verdict,
            Verdict::kUnknown);
}

TEST(Blamed, NonePassesOnlyWhenNothingWasFound) {
  EXPECT_EQ(Facts().expect("blamed: none").found(finding("none", {})).result().verdict, Verdict::kPass);
  EXPECT_EQ(
      Facts().expect("blamed: none").found(finding("slow_rank", {1}, Confidence::kInferred)).result().verdict,
      Verdict::kFail);
}

TEST(Blamed, ComparesBothSidesOfADisagreement) {
  Finding mismatch = finding("call_mismatch", {});
  mismatch.sides = {{{0}, "broadcast", "", ""}, {{1, 2, 3}, "all_reduce", "", ""}};
  EXPECT_EQ(verdict_of("blamed: {kind: call_mismatch, ranks: [], sides: [[0], 1-3]}", mismatch),
            Verdict::kPass);
  EXPECT_EQ(verdict_of("blamed: {kind: call_mismatch, sides: [[0], [1, 2]]}", mismatch), Verdict::kFail);
}

}  // namespace
}  // namespace rankfault::test
