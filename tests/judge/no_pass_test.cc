// no_pass_test: for every oracle one run in which the property holds, one in which it does not, and one whose
// record only claims that it does. Only the first passes. An oracle that lacks one of the three fails this
// test.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "tests/judge/census_line.h"
#include "tests/judge/facts.h"

namespace rankfault::test {
namespace {

struct Runs {
  std::string yaml;
  std::function<void(Facts&)> truth, breaks, lies;
};

Facts& killed(Facts& facts) { return facts.fault("kill", {2}).struck("kill", 100, 4, 3); }

void value_of(Facts& facts, int rank, uint64_t value, double at = 100) {
  facts.mark(rank, "value", 5, at, "weights", value);
}

// `lies`: a line, a mark or an exit status says that all is well, but the evidence belongs to another rank or
// another run, is too early, or is lost.
const std::map<std::string, Runs>& table() {
  static const std::map<std::string, Runs> runs{
      {"agreed",
       {"agreed: {values: [weights]}",
        [](Facts& f) {
          for (const int rank : {0, 1, 2, 3}) value_of(f.all_exited(0, 900), rank, 7);
        },
        [](Facts& f) {
          for (const int rank : {0, 1, 2, 3}) value_of(f, rank, rank == 2);
        },
        [](Facts& f) { value_of(f.all_exited(0, 900), 0, 7); }}},  // the other ranks reported nothing
      {"blamed",
       {"blamed: {kind: dead_rank, ranks: [2]}", [](Facts& f) { killed(f).found(finding("dead_rank", {2})); },
        [](Facts& f) { killed(f).found(finding("dead_rank", {1})); },
        [](Facts& f) {
          killed(f).line("finding", {{"finding", to_json(finding("dead_rank", {2}))}}, 50);
        }}},
      {"check",
       {"check: {command: [looks]}",
        [](Facts& f) {
          f.line("check", {{"id", "check"}, {"argv", {"looks"}}, {"kind", "exit"}, {"value", 0}});
        },
        [](Facts& f) {
          f.line("check", {{"id", "check"}, {"argv", {"looks"}}, {"kind", "exit"}, {"value", 1}});
        },
        [](Facts& f) {
          f.line("check", {{"id", "another"}, {"argv", {"looks"}}, {"kind", "exit"}, {"value", 0}});
        }}},
      {"commits",
       {"commits: {at_least: 2}",
        [](Facts& f) {
          f.all_exited(0, 90);
          for (const int rank : {0, 1, 2, 3})
            f.mark(rank, "step_commit", 1, 10).mark(rank, "step_commit", 2, 20);
        },
        [](Facts& f) { f.all_exited(0, 90).mark(0, "step_commit", 1, 10); },
        [](Facts& f) { f.all_exited(0, 90).mark(0, "step_commit", 1, 10).mark(0, "step_commit", 1, 20); }}},
      {"detected",
       {"detected: {by: [0], within: 1s}",
        [](Facts& f) { killed(f).all_exited(0, 900).mark(0, "error_mark", 4, 200, "timeout"); },
        [](Facts& f) { killed(f).all_exited(0, 900); },
        [](Facts& f) {
          killed(f).all_exited(0, 900).mark(0, "error_mark", 4, 200, "timeout");
          f.reference(Facts().mark(0, "error_mark", 2, 20, "timeout").take());
        }}},
      {"ended",
       {"ended: {ranks: [0], exit: nonzero}", [](Facts& f) { killed(f).exited(0, 3, 900); },
        [](Facts& f) { killed(f).all_exited(0, 900); }, [](Facts& f) { killed(f).exited(1, 3, 900); }}},
      {"finished",
       {"finished", [](Facts& f) { f.all_exited(0, 900); }, [](Facts& f) { f.all_exited(1, 900); },
        [](Facts& f) { f.exited(0, 0, 900).exited(1, 0, 900).exited(2, 0, 900); }}},
      {"finished_in_time",
       {"finished_in_time",
        [](Facts& f) {
          f.all_exited(0, 900).line("teardown", {{"reason", "over"}});
        },
        [](Facts& f) { f.torn_down("wall", 60'000); },
        [](Facts& f) { f.all_exited(0, 900).torn_down("interrupted", 1'000); }}},
      {"left_nothing",
       {"left_nothing", [](Facts& f) { f.line("census", kCensus); },
        [](Facts& f) {
          f.line("leftover", {{"kind", "sysv"}, {"what", "System V segment 7"}}).line("census", kCensus);
        },
        [](Facts& f) { f.line("census_unanswered").line("census", kCensus); }}},
      {"no_commit_after",
       {"no_commit_after: {fault: kill}",
        [](Facts& f) { killed(f).mark(0, "step_commit", 3, 90).all_exited(0, 900); },
        [](Facts& f) { killed(f).mark(0, "step_commit", 4, 200); },
        [](Facts& f) { killed(f).mark(0, "step_commit", 3, 90).process(1).steps_committed = 6; }}},
      {"reference",
       {"reference", [](Facts& f) { f.all_exited(0, 900).found(finding("none", {})); },
        [](Facts& f) { f.all_exited(0, 900).found(finding("wedged", {})); },
        [](Facts& f) { f.exited(0, 0, 900).found(finding("none", {})); }}},
      {"resumed",
       {"resumed",
        [](Facts& f) {
          killed(f).mark(0, "mark", 20, 50, "checkpoint").restarted(1);
          for (const int rank : {0, 1, 2, 3}) f.mark(rank, "step_begin", 21, 900, "", 0, 1);
        },
        [](Facts& f) {
          killed(f).mark(0, "mark", 20, 50, "checkpoint").restarted(1);
          for (const int rank : {0, 1, 2, 3}) f.mark(rank, "step_begin", 1, 900, "", 0, 1);
        },
        [](Facts& f) {  // nothing marks checkpoints, so the place where it resumes cannot be compared
          killed(f).mark(0, "step_begin", 1, 50).restarted(1);
          for (const int rank : {0, 1, 2, 3}) f.mark(rank, "step_begin", 1, 900, "", 0, 1);
        }}},
      {"same_as_reference",
       {"same_as_reference: {values: [weights], ranks: [0]}",
        [](Facts& f) {
          Facts other;
          value_of(other, 0, 7);
          value_of(f.reference(other.take()), 0, 7);
        },
        [](Facts& f) {
          Facts other;
          value_of(other, 0, 8);
          value_of(f.reference(other.take()), 0, 7);
        },
        [](Facts& f) { value_of(f, 0, 7); }}},  // the run has no reference
      {"reported",
       {"reported: {kind: slow_rank, ranks: [2]}",
        [](Facts& f) {
          killed(f).line("finding", {{"finding", to_json(finding("slow_rank", {2}))}}, 300);
          f.found(finding("none", {}));
        },
        [](Facts& f) {
          killed(f).line("finding", {{"finding", to_json(finding("slow_rank", {1}))}}, 300);
          f.found(finding("none", {}));
        },
        [](Facts& f) {
          Finding back = finding("slow_rank", {2});
          back.withdrawn = true;
          killed(f).line("finding", {{"finding", to_json(back)}}, 300).found(finding("none", {}));
        }}},
      {"unblocked",
       {"unblocked: {ranks: [0], within: 1s, after: kill}",
        [](Facts& f) { killed(f).call(0, RF_OP_BARRIER, 50, 600).all_exited(0, 900); },
        [](Facts& f) { killed(f).inside(0, RF_OP_BARRIER, 50).torn_down("wall", 60'000); },
        [](Facts& f) {
          killed(f).call(0, RF_OP_BARRIER, 5'000, 5'010).process(0).history_lost = 100;  // unknown since when
        }}},
  };
  return runs;
}

// For oracles over several runs: a value that differs between them, and a value that only one of them
// reports.
enum class Which { kTruth, kBreaks, kLies };

ExpectationResult compared(const Oracle& oracle, Which which) {
  Facts a(1), b(1);
  for (Facts* facts : {&a, &b})
    facts->expect("compare: {value: weights, between: [a, b], within: exact}").all_exited(0, 900);
  value_of(a, 0, 7);
  if (which != Which::kLies) value_of(b, 0, which == Which::kTruth ? 7 : 8);
  return oracle.judge_over(a.facts().plan.scenario.expect.at(0),
                           {{"a", 1, &a.facts()}, {"b", 1, &b.facts()}});
}

class EveryProperty : public testing::TestWithParam<const Oracle*> {
 protected:
  ExpectationResult result_of(Which which) {
    if (GetParam()->judge_over) return compared(*GetParam(), which);
    const auto found = table().find(GetParam()->name);
    if (found == table().end()) return {};
    Facts facts;
    facts.expect(found->second.yaml);
    const Runs& runs = found->second;
    (which == Which::kTruth ? runs.truth : which == Which::kBreaks ? runs.breaks : runs.lies)(facts);
    return GetParam()->judge(facts.facts().plan.scenario.expect.at(0), facts.facts());
  }
};

TEST_P(EveryProperty, HasItsRuns) {
  EXPECT_TRUE(GetParam()->judge_over || table().count(GetParam()->name)) << "add all three to this table";
}

TEST_P(EveryProperty, PassesWhereItHolds) {
  const ExpectationResult result = result_of(Which::kTruth);
  EXPECT_EQ(result.verdict, Verdict::kPass) << result.because;
}

TEST_P(EveryProperty, FailsWhereItDoesNotHold) {
  const ExpectationResult result = result_of(Which::kBreaks);
  EXPECT_EQ(result.verdict, Verdict::kFail) << result.because;
}

TEST_P(EveryProperty, IsNotPassedByARecordThatLies) {
  const ExpectationResult result = result_of(Which::kLies);
  EXPECT_NE(result.verdict, Verdict::kPass) << result.because;
  EXPECT_NE(result.because, "");
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryProperty, testing::ValuesIn(Catalog<Oracle>::instance().all()),
                         [](const auto& one) { return std::string(one.param->name); });

}  // namespace
}  // namespace rankfault::test
