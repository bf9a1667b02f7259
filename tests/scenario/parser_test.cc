// parser_test: every key of the format sets its field, and is in the tree that is written back.
#include <gmock/gmock.h>

#include "documents.h"
#include "harness/scenario/scenario_tree.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

using testing::ElementsAre;

const char kEverything[] = R"(
version: 1
name: all-keys
summary: text
workload:
  launcher: mpirun
  ranks: 4
  command: ["{bin}/trainer", --steps, 60]
  launcher_args: [--bind-to, none]
  mpirun: /opt/bin/mpirun
  env: {A: b, N: 1}
  cwd: /tmp
  restarts: 2
  limits: {wall: 1.5m}
  order_free: true
  markers: {step_begin: 'step (\d+)', error: '(error)'}
  needs: [mpi]
reference: fault_free
seed: 7
teeth:
  - {args: [--off], must_fail: mine}
  - {id: named, env: {X: y}, set: {faults.a.at.nth: 9}, must_fail: blamed}
variants:
  - {id: one}
  - {id: two, args: [--x], env: {A: c}, ranks: 3, set: {workload.cwd: /}, times: 2}
faults:
  - {id: a, kind: rank_kill, ranks: [0, 2], at: {step: 40, op: all_reduce, library: nccl, comm: {size: 2}, nth: 3, phase: p, edge: after}}
  - {kind: rank_kill, ranks: 1-2, times: 3, each_attempt: true, optional: true, at: {attempt: 1, file_op: rename, path: '*x'}}
  - {kind: rank_kill, ranks: all, times: unlimited, at: {mark: m, after_fault: a}, signal: TERM}
expect:
  - blamed: {kind: dead_rank}
  - blamed: {kind: dead_rank, id: mine}
  - blamed: {kind: dead_rank}
must_be: {fail: mine}
)";

class Parser : public testing::Test {
 protected:
  Scenario read(const std::string& text) {
    ParsedScenario parsed = parse_all(text, "f.yaml");
    EXPECT_TRUE(parsed.errors.empty()) << parsed.errors.front().to_string();
    return parsed.scenario;
  }
};

TEST_F(Parser, ReadsTheWorkload) {
  const Workload w = read(kEverything).workload;
  EXPECT_EQ(w.launcher, LauncherKind::kMpirun);
  EXPECT_EQ(w.ranks, 4);
  EXPECT_THAT(w.command, ElementsAre("{bin}/trainer", "--steps", "60"));
  EXPECT_THAT(w.launcher_args, ElementsAre("--bind-to", "none"));
  EXPECT_EQ(w.env.at("N"), "1");
  EXPECT_EQ(w.restarts, 2);
  EXPECT_EQ(w.limits.wall, std::chrono::seconds(90));
  EXPECT_TRUE(w.order_free);
  EXPECT_EQ(w.markers.error, "(error)");
}

TEST_F(Parser, ReadsFaultsAndNamesTheUnnamed) {
  const Scenario s = read(kEverything);
  ASSERT_EQ(s.faults.size(), 3u);
  EXPECT_EQ(s.faults[0].at.comm.size, 2);
  EXPECT_EQ(s.faults[0].at.edge, Edge::kAfter);
  EXPECT_EQ(s.faults[0].at.library, "nccl");
  EXPECT_EQ(s.faults[2].at.library, "");
  EXPECT_EQ(s.faults[1].id, "rank_kill");
  EXPECT_EQ(s.faults[2].id, "rank_kill#2");
  EXPECT_THAT(s.faults[1].ranks.ranks, ElementsAre(1, 2));
  EXPECT_EQ(s.faults[2].times.count, kEveryTime);
  EXPECT_EQ(s.faults[2].params.find("signal")->text, "TERM");
}

TEST_F(Parser, NumbersExpectationsOfOneOracle) {
  const Scenario s = read(kEverything);
  EXPECT_EQ(s.expect[0].id, "blamed");
  EXPECT_EQ(s.expect[1].id, "mine");
  EXPECT_EQ(s.expect[2].id, "blamed#2");
  EXPECT_EQ(s.must_be.expectation, "mine");
  EXPECT_EQ(s.teeth[0].id, "t1");
  EXPECT_EQ(s.teeth[1].set[0].first, "faults.a.at.nth");
}

TEST_F(Parser, LimitsTheWallByDefault) {
  EXPECT_EQ(read(with("  limits: {wall: 90s}\n", "")).workload.limits.wall, std::chrono::seconds(60));
}

TEST_F(Parser, ReadsItsOwnTreeBackTheSame) {
  const Scenario s = read(kEverything);
  const Value tree = to_tree(s);
  const ParsedScenario again = read_scenario_tree(tree, s.file, s.text);
  ASSERT_TRUE(again.errors.empty()) << again.errors.front().to_string();
  EXPECT_EQ(to_json(to_tree(again.scenario)).dump(2), to_json(tree).dump(2));
}

TEST_F(Parser, AcceptsTheGoodDocumentWhole) { EXPECT_EQ(mistake(kGood), ""); }

TEST_F(Parser, CollectsEveryMistakeOfAFile) {
  const ParsedScenario parsed =
      parse_all("version: 2\nname: 'a b'\nworkload: {ranks: none, comand: [x]}\nexpect: []\n", "f.yaml");
  EXPECT_EQ(parsed.errors.size(), 6u);
}

}  // namespace
}  // namespace rankfault
