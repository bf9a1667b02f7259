// compare_test: expectations over several runs, with runs written in a few lines.
#include <gmock/gmock.h>

#include <bit>

#include "harness/judge/comparison.h"
#include "tests/judge/facts.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

// Runs of variants "a", "b" ... of a scenario with the expectation `yaml`.
class Runs {
 public:
  explicit Runs(std::string yaml) : yaml_(std::move(yaml)) {}

  Facts& add(const std::string& variant, int ranks = 2) {
    runs_.push_back({variant, std::make_unique<Facts>(ranks)});
    Facts& facts = *runs_.back().second;
    facts.expect("finished").expect(yaml_).all_exited(0, 900);
    facts.facts().plan.variant = variant;
    return facts;
  }
  Judgement judged() {
    std::vector<JudgedVariant> all;
    std::vector<Variant> variants;
    for (auto& [id, facts] : runs_) {
      const bool first = variants.empty() || variants.back().id != id;
      if (first) variants.emplace_back().id = id;
      all.push_back({{id, first ? 1 : all.back().run.n + 1, &facts->facts()}, {}});
    }
    for (auto& [id, facts] : runs_) facts->facts().plan.scenario.variants = variants;
    for (JudgedVariant& one : all) one.judgement = judge(*one.run.facts);
    return judge_comparison(all);
  }
  ExpectationResult compared() {
    for (const ExpectationResult& result : judged().expectations)
      if (result.oracle == "compare") return result;
    return {};
  }

 private:
  std::string yaml_;
  std::vector<std::pair<std::string, std::unique_ptr<Facts>>> runs_;
};

void report(Facts& facts, uint64_t rank_0, uint64_t rank_1, int64_t step = 5) {
  facts.mark(0, "value", step, 100, "weights", rank_0).mark(1, "value", step, 110, "weights", rank_1);
}

Verdict verdict_of(uint64_t a, uint64_t b, const std::string& within) {
  Runs runs("compare: {value: weights, within: " + within + "}");
  report(runs.add("a"), a, a);
  report(runs.add("b"), b, b);
  return runs.compared().verdict;
}

uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }

TEST(Compare, AsksForTheSameBitsOrForOthers) {
  EXPECT_EQ(verdict_of(7, 7, "exact"), Verdict::kPass);
  EXPECT_EQ(verdict_of(7, 8, "exact"), Verdict::kFail);
  EXPECT_EQ(verdict_of(7, 8, "differs"), Verdict::kPass);
  EXPECT_EQ(verdict_of(7, 7, "differs"), Verdict::kFail);
  EXPECT_EQ(verdict_of(7, 8, "shown"), Verdict::kPass);
}

TEST(Compare, AsksForNearness) {
  EXPECT_EQ(verdict_of(bits(1.0), bits(1.05), "{abs: 0.1}"), Verdict::kPass);
  EXPECT_EQ(verdict_of(bits(1.0), bits(1.2), "{abs: 0.1}"), Verdict::kFail);
  EXPECT_EQ(verdict_of(bits(100.0), bits(105.0), "{rel: 0.1}"), Verdict::kPass);
  EXPECT_EQ(verdict_of(bits(1.0), bits(NAN), "{rel: 0.1}"), Verdict::kFail);
}

TEST(Compare, NamesTheRankAndTheVariantThatDiffer) {
  Runs runs("compare: {value: weights}");
  report(runs.add("a"), 7, 7);
  report(runs.add("b"), 7, 8);
  EXPECT_EQ(runs.compared().verdict, Verdict::kFail);
  EXPECT_THAT(runs.compared().because, HasSubstr("weights of rank 1 at step 5"));
  EXPECT_THAT(runs.compared().because, HasSubstr("in b, but 0x0000000000000007 in a"));
}

TEST(Compare, LooksAtEveryRunOfAVariant) {
  Runs runs("compare: {value: weights}");
  report(runs.add("a"), 7, 7);
  report(runs.add("b"), 7, 7);
  report(runs.add("b"), 7, 9);
  EXPECT_EQ(runs.compared().verdict, Verdict::kFail);
}

TEST(Compare, ALargerWorldIsComparedWithAnyRankOfTheSmaller) {
  Runs runs("compare: {value: weights}");
  report(runs.add("a"), 7, 7);
  Facts& larger = runs.add("b", 3);
  report(larger, 7, 7);
  larger.mark(2, "value", 5, 120, "weights", 7);
  EXPECT_EQ(runs.compared().verdict, Verdict::kPass);
  report(larger, 7, 7, 6);  // its own later step does not count
  EXPECT_EQ(runs.compared().verdict, Verdict::kPass);
}

TEST(Compare, IsUnknownWhenNobodyReportedIt) {
  Runs runs("compare: {value: weights}");
  runs.add("a");
  runs.add("b");
  EXPECT_EQ(runs.compared().verdict, Verdict::kUnknown);
  EXPECT_EQ(runs.judged().verdict, Verdict::kUnknown);
}

TEST(Compare, FailsWhenOneVariantNeverReportedIt) {
  Runs runs("compare: {value: weights}");
  report(runs.add("a"), 7, 7);
  Facts& silent = runs.add("b");
  silent.mark(0, "value", 5, 100, "weights", 7);
  EXPECT_EQ(runs.compared().verdict, Verdict::kFail);
  EXPECT_THAT(runs.compared().because, HasSubstr("in b, rank 1 never reported weights at step 5"));
  silent.process(1).history_lost = 3;
  EXPECT_EQ(runs.compared().verdict, Verdict::kUnknown);
}

TEST(Compare, IsUnknownWhenAVariantWasNotRun) {
  Runs runs("compare: {value: weights, between: [a, c]}");
  report(runs.add("a"), 7, 7);
  report(runs.add("b"), 7, 7);
  EXPECT_EQ(runs.compared().verdict, Verdict::kUnknown);
  Runs alone("compare: {value: weights}");
  report(alone.add("a"), 7, 7);
  EXPECT_EQ(alone.compared().verdict, Verdict::kUnknown);
}

TEST(Compare, ComparesOnlyBetweenThoseThatAreNamed) {
  Runs runs("compare: {value: weights, between: [a, c]}");
  report(runs.add("a"), 7, 7);
  report(runs.add("b"), 8, 8);
  report(runs.add("c"), 7, 7);
  EXPECT_EQ(runs.compared().verdict, Verdict::kPass);
}

void steps(Facts& facts, int count, double each_ms) {
  for (int step = 1; step <= count; ++step)
    for (const int rank : {0, 1})
      facts.mark(rank, "step_begin", step, 100 * step).mark(rank, "step_commit", step, 100 * step + each_ms);
}

TEST(Compare, CountsCommitsOfAllRanks) {
  Runs runs("compare: {value: commits}");
  steps(runs.add("a"), 3, 10);
  Facts& b = runs.add("b");
  steps(b, 3, 10);
  EXPECT_EQ(runs.compared().verdict, Verdict::kPass);
  b.mark(0, "step_commit", 4, 500);  // rank 1 did not
  EXPECT_EQ(runs.compared().verdict, Verdict::kPass);
  b.mark(1, "step_commit", 4, 500);
  EXPECT_EQ(runs.compared().verdict, Verdict::kFail);
}

TEST(Compare, CountsCallsAndIsUnknownWhereThereIsNone) {
  Runs runs("compare: {value: calls, op: all_reduce}");
  Facts& a = runs.add("a");
  Facts& b = runs.add("b");
  a.call(0, RF_OP_BARRIER, 10, 11);
  b.call(0, RF_OP_BARRIER, 10, 11);
  EXPECT_EQ(runs.compared().verdict, Verdict::kUnknown);
  a.call(0, RF_OP_ALL_REDUCE, 20, 21).call(1, RF_OP_ALL_REDUCE, 20, 21);
  b.call(0, RF_OP_ALL_REDUCE, 20, 21).call(1, RF_OP_ALL_REDUCE, 20, 21);
  EXPECT_EQ(runs.compared().verdict, Verdict::kPass);
  b.call(0, RF_OP_ALL_REDUCE, 30, 31);
  EXPECT_EQ(runs.compared().verdict, Verdict::kFail);
  b.process(0).history_lost = 1;
  EXPECT_EQ(runs.compared().verdict, Verdict::kUnknown);
}

TEST(Compare, TellsTimesWithTheirSpread) {
  Runs runs("compare: {value: step_duration, within: {rel: 0.5}}");
  steps(runs.add("a"), 4, 10);
  Facts& b = runs.add("b");
  steps(b, 4, 12);
  EXPECT_EQ(runs.compared().verdict, Verdict::kPass);
  EXPECT_THAT(runs.compared().because, HasSubstr("a 10ms (10ms to 10ms in 8); b 12ms"));
  EXPECT_THAT(runs.compared().because, HasSubstr("20.0 % more"));
}

TEST(Compare, ATimeThatIsTooLongIsUnknownOnAStarvedHost) {
  Runs runs("compare: {value: step_duration, within: {rel: 0.1}}");
  steps(runs.add("a"), 4, 10);
  Facts& b = runs.add("b");
  steps(b, 4, 20);
  EXPECT_EQ(runs.compared().verdict, Verdict::kFail);
  b.facts().starved = true;
  EXPECT_EQ(runs.compared().verdict, Verdict::kUnknown);
}

TEST(Comparison, AVariantThatFailsByItselfFailsAll) {
  Runs runs("compare: {value: weights}");
  report(runs.add("a"), 7, 7);
  Facts& b = runs.add("b");
  report(b, 7, 7);
  EXPECT_EQ(runs.judged().verdict, Verdict::kPass);
  EXPECT_TRUE(runs.judged().as_it_must_be);
  b.facts().ends[0].status = {ExitStatus::Kind::kCode, 3};
  EXPECT_EQ(runs.judged().verdict, Verdict::kFail);
  EXPECT_THAT(runs.judged().summary, HasSubstr("finished: b: "));
}

TEST(Comparison, AVariantInWhichNoFaultHadAnEffectMakesItVoid) {
  Facts facts;
  facts.expect("finished");
  std::vector<JudgedVariant> both{{{"a", 1, &facts.facts()}, {}}, {{"b", 1, &facts.facts()}, {}}};
  for (JudgedVariant& one : both) one.judgement.verdict = Verdict::kPass;
  EXPECT_EQ(judge_comparison(both).verdict, Verdict::kPass);
  both[1].judgement.verdict = Verdict::kVoid;
  EXPECT_EQ(judge_comparison(both).verdict, Verdict::kVoid);
}

TEST(Comparison, OverNoRunIsUnknown) { EXPECT_EQ(judge_comparison({}).verdict, Verdict::kUnknown); }

TEST(Comparison, OfOneRunAloneCompareIsNotAsked) {
  Runs runs("compare: {value: weights}");
  Facts& facts = runs.add("a");
  EXPECT_EQ(judge(facts.facts()).expectations.size(), 1u);
  EXPECT_EQ(judge(facts.facts()).verdict, Verdict::kPass);
}

TEST(Comparison, ACanarysRunsAreWellByThemselves) {
  Runs runs("compare: {value: weights}");
  Facts& a = runs.add("a");
  report(a, 7, 7);
  report(runs.add("b"), 8, 8);
  a.facts().plan.scenario.must_be = {MustBe::Kind::kFail, "compare"};
  EXPECT_TRUE(judge(a.facts()).as_it_must_be);
  EXPECT_TRUE(runs.judged().as_it_must_be);
}

}  // namespace
}  // namespace rankfault::test
