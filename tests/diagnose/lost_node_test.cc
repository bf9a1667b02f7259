// lost_node_test: ranks of a node that does not answer any more. What they did since then is not known.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;

class LostNode : public ::testing::Test {
 protected:
  // Ranks 0 and 1 are on n1, ranks 2 and 3 on n2.
  LostNode() {
    for (int r = 0; r < 4; ++r) job.rank(r).node = r < 2 ? "n1" : "n2";
    job.everyone(all_reduce(), 40);
  }
  void lose(int rank) {
    job.rank(rank).unheard_since = job.now();
    job.rank(rank).stable = false;  // as the observer says of such a process
  }
  TimelineBuilder job{4};
};

TEST_F(LostNode, NamesTheNodeItsRanksAndWhoIsInACallWithThem) {
  job.blocked(0, all_reduce()).blocked(1, all_reduce());
  lose(2);
  lose(3);
  job.wait(5s);
  const Findings found = diagnose(job.build());
  ASSERT_EQ(all_kinds(found), "lost_node");
  const Finding& f = found.all[0];
  EXPECT_EQ(f.ranks, (std::vector<int>{2, 3}));
  EXPECT_EQ(f.confidence, Confidence::kInferred);
  EXPECT_EQ(f.text, "node n2 does not answer: ranks 2 3 are on it; ranks 0 1 are in all_reduce 41 on world");
  EXPECT_EQ(f.op, "all_reduce");
}

// The cable is cut while all ranks are in the call.
TEST_F(LostNode, AlthoughItsRanksHadEnteredTheCall) {
  for (int r = 0; r < 4; ++r) job.blocked(r, all_reduce());
  lose(2);
  lose(3);
  job.wait(60s);
  const Findings found = diagnose(job.build());
  ASSERT_NE(finding_of(found, "lost_node"), nullptr) << all_kinds(found);
  EXPECT_EQ(found.all[0].kind, "lost_node") << "the first cause";
  EXPECT_THAT(found.all[0].text, HasSubstr("ranks 0 1 are in all_reduce 41 on world"));
}

// Near miss: the same hang, and the node answers.
TEST_F(LostNode, IsNotSaidOfANodeThatAnswers) {
  job.blocked(0, all_reduce()).blocked(1, all_reduce());
  job.wait(60s);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(finding_of(found, "lost_node"), nullptr) << all_kinds(found);
  EXPECT_FALSE(found.nothing_wrong());
}

// Near miss: the ranks ended before the node fell silent.
TEST_F(LostNode, IsNotSaidOfRanksThatHadEnded) {
  for (int r = 0; r < 4; ++r) job.finalized(r).exits(r);
  lose(2);
  lose(3);
  job.wait(60s);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
}

TEST_F(LostNode, ARankThatDiedElsewhereIsStillNamedAndNothingIsProvenWithTheSilentOnes) {
  job.blocked(1, all_reduce()).killed(0);
  lose(2);
  lose(3);
  job.wait(5s);
  const Findings found = diagnose(job.build());
  const Finding* dead = finding_of(found, "dead_rank");
  ASSERT_NE(dead, nullptr) << all_kinds(found);
  EXPECT_EQ(dead->ranks, std::vector<int>{0});
  EXPECT_EQ(failed_assumptions(*dead), std::vector<std::string>{"same_calls_before"});
  EXPECT_NE(finding_of(found, "lost_node"), nullptr);
}

// A rank that was killed on the silent node, as far as the tool had heard, is dead all the same.
TEST_F(LostNode, ADeathThatWasHeardOfBeforeStays) {
  for (int r : {0, 1, 3}) job.blocked(r, all_reduce());
  job.killed(2);
  lose(2);
  lose(3);
  job.wait(5s);
  const Findings found = diagnose(job.build());
  ASSERT_NE(finding_of(found, "dead_rank"), nullptr) << all_kinds(found);
  const Finding* lost = finding_of(found, "lost_node");
  ASSERT_NE(lost, nullptr);
  EXPECT_EQ(lost->ranks, std::vector<int>{3});
}

TEST_F(LostNode, TheLookLineKeepsTheNode) {
  job.blocked(0, all_reduce()).blocked(1, all_reduce());
  lose(2);
  job.rank(2).clock_error = 250us;
  const Timeline before = job.build();
  const Result<Timeline> after = state_from_json(state_to_json(before));
  ASSERT_TRUE(after.ok());
  for (size_t i = 0; i < before.processes.size(); ++i) {
    EXPECT_EQ(after->processes[i].node, before.processes[i].node);
    EXPECT_EQ(after->processes[i].clock_error, before.processes[i].clock_error);
    EXPECT_EQ(after->processes[i].unheard_since, before.processes[i].unheard_since);
  }
}

}  // namespace
}  // namespace rankfault::testing
