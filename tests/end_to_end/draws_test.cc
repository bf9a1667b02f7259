// draws_test: the finding follows the draw. Victim, world size and call are drawn from a seed, so
// that no scenario passes because its numbers were fitted.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "tests/end_to_end/jobs.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

struct Draw {
  int ranks, victim, nth;
};

Draw draw(unsigned seed, int calls) {
  std::mt19937 random(seed);
  Draw d{};
  d.ranks = std::uniform_int_distribution<int>(2, 5)(random);
  d.victim = std::uniform_int_distribution<int>(0, d.ranks - 1)(random);
  d.nth = std::uniform_int_distribution<int>(1, calls)(random);
  return d;
}

struct Outcome {
  ToolRun tool;
  Json first;  // finding
};

Outcome run(std::string (*job)(const Job&), const char* kind, const Draw& d) {
  const Scratch scratch;
  Job j;
  j.ranks = d.ranks;
  j.wall = "60s";
  j.fault =
      fmt::format("{{id: f, kind: {}, ranks: [{}], at: {{op: all_reduce, nth: {}}}}}", kind, d.victim, d.nth);
  // Decided as soon as anything is proven or the job is over: who is asserted below, not here.
  j.expect = fmt::format(
      "  - blamed: {{any_of: [{{kind: dead_rank, ranks: [{0}]}}, {{kind: missing_call}}, {{kind: "
      "call_mismatch}}]}}\n",
      d.victim);
  Outcome r;
  r.tool = run_tool({"run", scratch.write("s.yaml", job(j)), "--run-dir", scratch.file("run")});
  const auto findings = findings_of(scratch.file("run"));
  if (!findings.empty()) r.first = findings[0];
  return r;
}

// A skipped call is one finding with two sides; at two ranks nobody is blamed, else the victim.
void expect_missing(const Json& finding, const Draw& d, bool seq_is_nth) {
  EXPECT_THAT(finding.value("kind", ""), testing::AnyOf("missing_call", "call_mismatch"));
  if (d.ranks == 2) {
    EXPECT_THAT(finding["ranks"], testing::AnyOf(Json::array(), Json({d.victim})));
  } else {
    EXPECT_EQ(finding["ranks"], Json({d.victim}));
  }
  EXPECT_GE(finding["sides"].size(), 2u);
  if (seq_is_nth && finding["seq"].is_object()) {
    EXPECT_LE(finding["seq"]["from"].get<int>(), d.nth);
    EXPECT_GE(finding["seq"]["to"].get<int>(), d.nth);
  }
}

class Draws : public testing::TestWithParam<int> {};

TEST_P(Draws, AKilledGlooRankIsNamedWithItsCall) {
  const Draw d = draw(static_cast<unsigned>(GetParam()), 6);
  const Outcome r = run(gloo_job, "rank_kill", d);
  ASSERT_EQ(r.first.value("kind", ""), "dead_rank") << r.tool.output;
  EXPECT_EQ(r.first["ranks"], Json({d.victim}));
  EXPECT_EQ(r.first["seq"], (Json{{"from", d.nth}, {"to", d.nth}}));
}

TEST_P(Draws, ASkippedGlooCallIsNamedWithItsRank) {
  const Draw d = draw(static_cast<unsigned>(GetParam()) + 1000, 6);
  const Outcome r = run(gloo_job, "skip_call", d);
  SCOPED_TRACE(r.tool.output);
  expect_missing(r.first, d, true);
}

TEST_P(Draws, AKilledMpiRankIsNamed) {
  if (!have_program("mpirun")) GTEST_SKIP() << "no mpirun";
  const Draw d = draw(static_cast<unsigned>(GetParam()) + 2000, 20);
  const Outcome r = run(mpi_job, "rank_kill", d);
  ASSERT_EQ(r.first.value("kind", ""), "dead_rank") << r.tool.output;
  EXPECT_EQ(r.first["ranks"], Json({d.victim}));
}

TEST_P(Draws, ASkippedMpiCallIsNamedWithItsRank) {
  if (!have_program("mpirun")) GTEST_SKIP() << "no mpirun";
  const Draw d = draw(static_cast<unsigned>(GetParam()) + 3000, 20);
  const Outcome r = run(mpi_job, "skip_call", d);
  SCOPED_TRACE(r.tool.output);
  EXPECT_THAT(r.first.value("kind", ""), testing::AnyOf("missing_call", "call_mismatch"));
  if (d.ranks > 2) {
    EXPECT_EQ(r.first["ranks"], Json({d.victim}));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Draws, testing::Range(1, 21));

class TorchDraws : public testing::TestWithParam<int> {};

TEST_P(TorchDraws, AKilledOrSilentDdpRankIsNamed) {
  if (python().empty()) GTEST_SKIP() << "no PyTorch (RANKFAULT_PYTHON)";
  const Draw d = draw(static_cast<unsigned>(GetParam()) + 4000, 5);
  const bool kill = GetParam() % 2 == 0;
  const Outcome r = run(torch_job, kill ? "rank_kill" : "skip_call", d);
  SCOPED_TRACE(r.tool.output);
  if (!kill) return expect_missing(r.first, d, false);  // DDP makes other calls on the group, too
  EXPECT_EQ(r.first.value("kind", ""), "dead_rank");
  EXPECT_EQ(r.first["ranks"], Json({d.victim}));
}

INSTANTIATE_TEST_SUITE_P(Quick, TorchDraws, testing::Range(1, 5));
INSTANTIATE_TEST_SUITE_P(Soak, TorchDraws, testing::Range(5, 21));

}  // namespace
}  // namespace rankfault::test
