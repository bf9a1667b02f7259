// twin_test: a fault and the bug that it stands for leave the same flight records and the same findings.
//
// (correct program + fault) and (program with that bug, without a fault) differ only in times and addresses.
// If they differed in more, the diagnosis could recognise the injection.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "harness/observe/observer.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

struct Twin {
  const char* name;
  const char* program;
  const char* fault;  // on rank 1, at its third all-reduce
  friend void PrintTo(const Twin& t, std::ostream* out) { *out << t.name; }
};

// Everything in a record except times and addresses, ordered by rank and lane.
std::vector<std::string> what_ranks_did(const std::string& run_dir, bool enters_only) {
  std::vector<std::string> lines;
  const auto timeline = final_timeline(run_dir);
  if (!timeline) return {timeline.error().to_string()};
  for (const ProcessView& process : timeline->processes) {
    for (const Event& event : process.history) {
      const rf_record& r = event.record;
      if (enters_only && r.phase != RF_PHASE_ENTER) continue;
      lines.push_back(
          fmt::format("rank {} lane {} call {} comm {} seq {} count {} peer {} tag/result {} op {} phase {} "
                      "library {} dtype {} reduce {} flags {}",
                      process.rank, event.lane, r.call, r.comm, r.seq, r.count, r.peer, r.tag_or_result,
                      op_text(r.op), r.phase, r.library, r.dtype, r.reduce_op, r.flags));
    }
    if (!enters_only)
      lines.push_back(fmt::format("rank {} end known {} signal {} value {}", process.rank,
                                  process.end.status_known, process.end.by_signal, process.end.value));
  }
  return lines;
}

// Findings without times, words and order: it is a race which of the waiting peers gives up first. With
// `causes_only`, the confidence of the causes is also a race: a call that failed within a millisecond may
// have been refused, and proves nothing. With two ranks left the finding blames no rank, otherwise rank 1.
std::vector<std::string> findings_without_times(const std::string& run_dir, bool causes_only) {
  std::vector<std::string> lines;
  for (const Json& finding : findings_of(run_dir)) {
    const bool cause = finding.value("caused_by", -1) < 0;
    if (causes_only && !cause) continue;
    Json kept = {{"cause", cause}};
    for (const char* key : {"kind", "op", "comm", "seq", "field"})
      if (finding.contains(key)) kept[key] = finding[key];
    const std::string blamed = finding.at("ranks").dump();
    EXPECT_TRUE(!causes_only || blamed == "[]" || blamed == "[1]") << blamed;
    for (const char* key : {"ranks", "confidence", "claim"})
      if (!causes_only && finding.contains(key)) kept[key] = finding[key];
    lines.push_back(kept.dump());
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

class TwinTest : public testing::TestWithParam<Twin> {
 protected:
  std::string run(const std::string& name, const std::string& more_args, const std::string& fault) {
    const std::string yaml = fmt::format(
        "version: 1\nname: {}\nsummary: One of two twins.\nworkload:\n  launcher: local\n  ranks: 3\n"
        "  command: [\"{{bin}}/{}\", \"--store={{store}}\", \"--steps=6\", \"--timeout=1s\"{}]\n"
        "  limits: {{wall: 20s}}\n{}expect:\n  - ended: {{ranks: [1], exit: nonzero}}\n",
        name, GetParam().program, more_args, fault);
    const ToolRun tool =
        run_tool({"run", scratch_.write(name + ".yaml", yaml), "--run-dir", scratch_.file(name)});
    output_ += tool.output;
    return scratch_.file(name);
  }

  Scratch scratch_;
  std::string output_;
};

TEST_P(TwinTest, FaultAndBugAreTheSameRecord) {
  const std::string faulty =
      run("fault", "",
          fmt::format("faults:\n  - {{id: f, kind: {}, ranks: [1], at: {{op: all_reduce, nth: 3}}}}\n",
                      GetParam().fault));
  const std::string buggy = run("bug", ", \"--rank=1\", \"--at=3\"", "");
  // Gloo ends a rank that received too much by an exception or by an abort, by race. In that case the test
  // compares the calls made and the cause.
  const bool ends_by_race = std::string(GetParam().name) == "Mismatch";
  EXPECT_THAT(what_ranks_did(faulty, ends_by_race), testing::ContainerEq(what_ranks_did(buggy, ends_by_race)))
      << output_;
  const auto findings = findings_without_times(faulty, ends_by_race);
  EXPECT_THAT(findings, testing::ContainerEq(findings_without_times(buggy, ends_by_race)));
  EXPECT_THAT(findings, testing::Not(testing::IsEmpty()));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, TwinTest,
    testing::Values(Twin{"Kill", "gloo_kill_bug", "rank_kill"}, Twin{"Skip", "gloo_skip_bug", "skip_call"},
                    Twin{"Mismatch", "gloo_mismatch", "change_argument, field: count, to: 128"}),
    testing::PrintToStringParamName());

}  // namespace
}  // namespace rankfault::test
