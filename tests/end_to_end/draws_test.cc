// draws_test: the finding follows the draw. Victim, world size and call are drawn from a seed, so
// that no scenario passes because its numbers were fitted.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "tests/end_to_end/jobs.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

// A call of the job in which the victim may be hit, and how often each rank makes it.
struct Choice {
  const char* op;
  int times;
};
using Choices = std::vector<Choice>;
const Choices kGlooCalls{{"all_reduce", 4},  {"broadcast", 4}, {"reduce", 4},  {"all_gather", 4},
                         {"all_gatherv", 4}, {"gather", 4},    {"scatter", 4}, {"all_to_all", 4},
                         {"all_to_allv", 4}, {"barrier", 4}};
const Choices kMpiCalls{{"all_reduce", 20}, {"broadcast", 2}, {"barrier", 1}};
const Choices kTrainerCalls{{"all_reduce", 40}, {"all_gather", 10}, {"barrier", 1}};
const Choices kTorchCalls{{"all_reduce", 5}, {"broadcast", 2}};

struct Draw {
  int ranks, victim, nth;
  std::string op;
  std::string text() const { return fmt::format("rank {} of {}, {} number {}", victim, ranks, op, nth); }
};

Draw draw(unsigned seed, const Choices& choices) {
  std::mt19937 random(seed);
  const auto from = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  Draw d{};
  d.ranks = from(2, 5);
  d.victim = from(0, d.ranks - 1);
  const Choice& choice = choices[static_cast<size_t>(from(0, static_cast<int>(choices.size()) - 1))];
  d.op = choice.op;
  d.nth = from(1, choice.times);
  return d;
}

struct Outcome {
  ToolRun tool;
  Json first = Json::object();  // finding
  uint64_t seq = 0;             // of the call at the gate
};

Outcome run(std::string (*job)(const Job&), const char* kind, const Draw& d) {
  const Scratch scratch;
  Job j;
  j.ranks = d.ranks;
  j.wall = "60s";
  j.fault =
      fmt::format("{{id: f, kind: {}, ranks: [{}], at: {{op: {}, nth: {}}}}}", kind, d.victim, d.op, d.nth);
  // Decided when a finding is proven or the job is over. The checks below decide on the rank.
  j.expect = fmt::format(
      "  - blamed: {{any_of: [{{kind: dead_rank, ranks: [{0}]}}, {{kind: missing_call}}, {{kind: "
      "call_mismatch}}]}}\n",
      d.victim);
  Outcome r;
  r.tool = run_tool({"run", scratch.write("s.yaml", job(j)), "--run-dir", scratch.file("run")});
  EXPECT_NE(r.tool.status, 2) << "void: " << r.tool.output;
  const auto findings = findings_of(scratch.file("run"));
  if (!findings.empty()) r.first = findings[0];
  std::istringstream journal(read_file(scratch.file("run/journal.ndjson")));
  for (std::string line; std::getline(journal, line);)
    if (const Json event = Json::parse(line); event.value("ev", "") == "fault_asked")
      r.seq = event.value("seq", uint64_t{0});
  return r;
}

bool seq_holds(const Json& finding, uint64_t seq) {
  const Json range = finding.value("seq", Json());
  return range.is_object() && range["from"].get<uint64_t>() <= seq && seq <= range["to"].get<uint64_t>();
}

// The victim never entered the call. The first call in which a rank needs it is this one or a later one.
void expect_dead(const Outcome& r, const Draw& d) {
  SCOPED_TRACE(d.text() + "\n" + r.tool.output);
  ASSERT_EQ(r.first.value("kind", ""), "dead_rank");
  EXPECT_EQ(r.first["ranks"], Json({d.victim}));
  if (r.first.value("op", "") == d.op) {
    EXPECT_TRUE(seq_holds(r.first, r.seq)) << r.seq;
  }
  if (r.first.value("seq", Json()).is_object()) {
    EXPECT_GE(r.first["seq"]["to"].get<uint64_t>(), r.seq);
  }
}

// One finding with two sides. It blames the victim, or at two ranks no rank. But a root alone in its call
// blames the others, as if they had left the call out: the calls before it do not show which is true.
void expect_missing(const Outcome& r, const Draw& d) {
  SCOPED_TRACE(d.text() + "\n" + r.tool.output);
  EXPECT_THAT(r.first.value("kind", ""), testing::AnyOf("missing_call", "call_mismatch"));
  const Json ranks = r.first.value("ranks", Json()), sides = r.first.value("sides", Json::array());
  const bool sides_tell = std::any_of(sides.begin(), sides.end(),
                                      [&](const Json& side) { return side["ranks"] == Json({d.victim}); });
  Json others = Json::array();
  for (int rank = 0; rank < d.ranks; ++rank)
    if (rank != d.victim) others.push_back(rank);
  const bool read_from_a_lone_root = r.first.value("confidence", "") == "inferred" && sides_tell &&
                                     ranks == others &&
                                     r.first.value("text", "").find("its root") != std::string::npos;
  if (d.ranks == 2)
    EXPECT_TRUE(ranks == Json::array() || ranks == Json({d.victim}) || read_from_a_lone_root) << ranks;
  else
    EXPECT_TRUE(ranks == Json({d.victim}) || read_from_a_lone_root) << ranks;
  EXPECT_GE(sides.size(), 2u);
}

// One kind of job with one defect. Its seeds do not overlap those of another family.
struct Family {
  const char* name;
  std::string (*job)(const Job&);
  const char* fault;
  const Choices* calls;
  unsigned first_seed;
  const char* program = "sh";  // the program that must be installed
  friend void PrintTo(const Family& f, std::ostream* out) { *out << f.name; }
};
const Family kFamilies[] = {
    {"KilledGlooRank", gloo_all_ops_job, "rank_kill", &kGlooCalls, 11000},
    {"SkippedGlooCall", gloo_all_ops_job, "skip_call", &kGlooCalls, 12000},
    {"KilledMpiRank", mpi_job, "rank_kill", &kMpiCalls, 13000, "mpirun"},
    {"SkippedMpiCall", mpi_job, "skip_call", &kMpiCalls, 14000, "mpirun"},
    {"KilledTrainerRank", trainer_job, "rank_kill", &kTrainerCalls, 16000},
    {"SkippedTrainerCall", trainer_job, "skip_call", &kTrainerCalls, 17000},
};

void expect_named(const Outcome& r, const Draw& d, const std::string& fault) {
  fault == "rank_kill" ? expect_dead(r, d) : expect_missing(r, d);
}

class Draws : public testing::TestWithParam<std::tuple<Family, unsigned>> {};

TEST_P(Draws, TheFindingFollows) {
  const auto& [family, n] = GetParam();
  if (!have_program(family.program)) GTEST_SKIP() << "no " << family.program;
  const Draw d = draw(family.first_seed + n, *family.calls);
  expect_named(run(family.job, family.fault, d), d, family.fault);
}

// A demo scenario with drawn places put into it. It must still have the outcome that it states.
class DemoDraws : public testing::TestWithParam<unsigned> {
 protected:
  static ToolRun run(const std::string& scenario, const std::vector<std::string>& sets) {
    const Scratch scratch;
    std::vector<std::string> args{"run", source_dir() + "/scenarios/" + scenario, "--runs", scratch.path()};
    for (const std::string& set : sets) args.insert(args.end(), {"--set", set});
    return run_tool(args);
  }
};

TEST_P(DemoDraws, AWriterKilledBetweenWriteAndRenameCostsNoBit) {
  std::mt19937 random(GetParam() + 18000);
  const int ranks = std::uniform_int_distribution<int>(2, 5)(random);
  const int nth = std::uniform_int_distribution<int>(1, 4)(random);  // of four checkpoints
  const ToolRun tool = run("recovery/kill-before-rename.yaml", {fmt::format("workload.ranks={}", ranks),
                                                                fmt::format("faults.kill.at.nth={}", nth)});
  EXPECT_EQ(tool.status, 0) << ranks << " ranks, rename " << nth << "\n" << tool.output;
}

TEST_P(DemoDraws, ADeletedSegmentIsNamedWhoeverComesForIt) {
  if (!have_program("mpirun")) GTEST_SKIP() << "no mpirun";
  std::mt19937 random(GetParam() + 19000);
  const int ranks = std::uniform_int_distribution<int>(2, 5)(random);
  const int victim = std::uniform_int_distribution<int>(0, ranks - 1)(random);
  const ToolRun tool = run("host/segment-deleted.yaml", {fmt::format("workload.ranks={}", ranks),
                                                         fmt::format("faults.gone.ranks=[{}]", victim)});
  EXPECT_EQ(tool.status, 0) << ranks << " ranks, rank " << victim << "\n" << tool.output;
}

std::string family_and_seed(const testing::TestParamInfo<Draws::ParamType>& tested) {
  return fmt::format("{}_{}", std::get<0>(tested.param).name, std::get<1>(tested.param));
}

// Twenty draws of each in all. The default tests have time only for these.
const auto kQuick = testing::Range(1u, 9u), kMore = testing::Range(9u, 21u);
INSTANTIATE_TEST_SUITE_P(Seeds, DemoDraws, kQuick);
INSTANTIATE_TEST_SUITE_P(Soak, DemoDraws, kMore);
INSTANTIATE_TEST_SUITE_P(Seeds, Draws, testing::Combine(testing::ValuesIn(kFamilies), kQuick),
                         family_and_seed);
INSTANTIATE_TEST_SUITE_P(Soak, Draws, testing::Combine(testing::ValuesIn(kFamilies), kMore), family_and_seed);

class TorchDraws : public testing::TestWithParam<unsigned> {};

TEST_P(TorchDraws, AKilledOrSilentDdpRankIsNamed) {
  if (python().empty()) GTEST_SKIP() << "no PyTorch (RANKFAULT_PYTHON)";
  const Draw d = draw(GetParam() + 15000, kTorchCalls);
  const char* fault = GetParam() % 2 == 0 ? "rank_kill" : "skip_call";
  expect_named(run(torch_job, fault, d), d, fault);
}

INSTANTIATE_TEST_SUITE_P(Quick, TorchDraws, testing::Range(1u, 3u));
INSTANTIATE_TEST_SUITE_P(Soak, TorchDraws, testing::Range(3u, 21u));

}  // namespace
}  // namespace rankfault::test
