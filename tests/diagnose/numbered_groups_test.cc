// numbered_groups_test: groups of PyTorch that not all ranks make. Each process names a group by the number
// of its calls of new_group, so one number may mean two groups.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NumberedGroups : public ::testing::Test {
 protected:
  // The rank calls new_group for the number-th time, for a group of `size` members in which it has this seat.
  // `made`: it is not in the call any more.
  void makes(int rank, int number, uint64_t size, int seat, bool made = true) {
    CallSpec spec{RF_OP_COMM_CREATE, size, 0, 0, seat, 0x100 + size, "world", 0, 0, 0, number};
    made ? job.does(rank, spec) : job.blocked(rank, spec);
  }
  void waits_in(int rank, int number, uint64_t size, int seat) { makes(rank, number, size, seat, false); }
  // A creation is on no communicator.
  Timeline timeline() {
    Timeline t = job.build();
    for (ProcessView& p : t.processes) {
      for (Event& e : p.history)
        if (e.record.op == RF_OP_COMM_CREATE) e.record.comm = RF_NO_COMM, e.record.seq = 0;
      for (LaneView& l : p.lanes)
        if (l.state.op == RF_OP_COMM_CREATE) l.state.comm = RF_NO_COMM, l.state.seq = 0;
      for (CommView& c : p.comms)
        if (c.name == "world") c.entered = c.completed = c.issuers = 0;
    }
    return t;
  }
  const Finding* finding(const std::string& kind) {
    last = diagnose(timeline());
    return finding_of(last, kind);
  }
  // Ranks 0 and 2 of four make a group that rank 1 leaves out; then 0, 1, 2 make one.
  void leave_out_one() {
    job.comm("group1", {0, 2});
    makes(0, 1, 2, 0);
    makes(2, 1, 2, 1);
    waits_in(0, 2, 3, 0);
    waits_in(1, 1, 3, 1);
    waits_in(2, 2, 3, 2);
  }

  TimelineBuilder job{4, RF_LIB_C10D};
  Findings last;
};

TEST_F(NumberedGroups, NameTheRankThatLeftOneOutAndItsLine) {
  leave_out_one();
  job.wait(3s);
  const Finding* f = finding("call_mismatch");
  ASSERT_NE(f, nullptr) << all_kinds(last);
  EXPECT_EQ(f->ranks, std::vector<int>{1});
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_EQ(f->field, "members");
  EXPECT_EQ(f->call_site, "prog+0x102");
  EXPECT_EQ(
      f->text,
      "ranks make different groups as their new_group 1: ranks 0 2 of 2 members, rank 1 of 3 members; rank 1 "
      "left out the new_group of 2 members at prog+0x102");
  EXPECT_EQ(f->sides.size(), 2u);
}

TEST_F(NumberedGroups, AreNamedWithTheLineThatMadeThem) {
  job.comm("group1", {0, 2});
  for (const int rank : {0, 2}) makes(rank, 1, 2, rank / 2);
  for (const int rank : {0, 2}) makes(rank, 2, 2, rank / 2);
  CallSpec sum = all_reduce();
  sum.comm = "group1";
  job.blocked(0, sum).killed(2, 9).wait(3s);
  const Finding* f = finding("dead_rank");
  ASSERT_NE(f, nullptr) << all_kinds(last);
  EXPECT_THAT(f->text, HasSubstr("all_reduce 1 on group1"));
  EXPECT_THAT(f->evidence, ::testing::Contains("group1 is made by new_group at prog+0x102"));
  EXPECT_THAT(f->evidence, ::testing::Not(::testing::Contains(HasSubstr("group2"))));
}

// Members of two groups wait under one number, so how many are missing is not known.
TEST_F(NumberedGroups, AGroupInDisputeAwaitsNoRank) {
  leave_out_one();
  job.blocked(3, barrier());
  job.wait(30s);
  ASSERT_NE(finding("init_stall"), nullptr) << all_kinds(last);
  EXPECT_EQ(last.all.front().kind, "call_mismatch") << all_kinds(last);
  for (const Finding& f : last.all) {
    if (f.kind != "init_stall") continue;
    EXPECT_THAT(f.text, HasSubstr("in new_group 2: of 3 members 1 of ranks 1 3 has not joined"));
    EXPECT_EQ(f.caused_by, 0);
  }
}

TEST_F(NumberedGroups, OfTwoPairsWithOneNumberBlameNoRank) {
  waits_in(0, 1, 2, 0);
  waits_in(1, 1, 2, 1);
  waits_in(2, 1, 2, 0);
  waits_in(3, 1, 2, 1);
  job.wait(3s);
  const Finding* f = finding("call_mismatch");
  ASSERT_NE(f, nullptr) << all_kinds(last);
  EXPECT_THAT(f->ranks, IsEmpty());
  EXPECT_THAT(f->text,
              HasSubstr("new_group 1: ranks 0 2 are both its member 0, ranks 1 3 are both its member 1"));
}

// Every rank calls new_group for both pairs: they have two numbers.
TEST_F(NumberedGroups, AreSilentAboutPairsThatAllRanksMake) {
  for (const int r : {0, 1}) makes(r, 1, 2, r);
  waits_in(2, 2, 2, 0);
  waits_in(3, 2, 2, 1);
  job.wait(3s);
  EXPECT_EQ(finding("call_mismatch"), nullptr) << all_kinds(last);
}

// In the next world the numbers begin anew.
TEST_F(NumberedGroups, AreSilentAboutGroupsOfAnEarlierWorld) {
  const CallSpec init{RF_OP_INIT, 0, 0, 0, RF_PEER_NONE, 0x5, "world", 0, 0, 0};
  for (const int r : {0, 1}) makes(r, 1, 2, r);
  for (const int r : {0, 1, 2, 3}) job.does(r, init);
  for (const int r : {0, 1, 2}) waits_in(r, 1, 3, r);
  job.wait(3s);
  EXPECT_EQ(finding("call_mismatch"), nullptr) << all_kinds(last);
}

// A launcher may start two jobs beside each other: each numbers its own groups.
TEST_F(NumberedGroups, AreSilentAboutWorldsOfTheirOwn) {
  waits_in(0, 1, 2, 0);
  waits_in(1, 1, 3, 0);
  job.wait(3s);
  Timeline t = timeline();
  for (ProcessView& p : t.processes)
    for (CommView& c : p.comms) c.id += static_cast<uint64_t>(p.rank);
  last = diagnose(t);
  EXPECT_EQ(finding_of(last, "call_mismatch"), nullptr) << all_kinds(last);
}

TEST_F(NumberedGroups, DifferBySizeAlone) {
  waits_in(0, 1, 2, 0);
  waits_in(1, 1, 3, 1);
  job.wait(3s);
  const Finding* f = finding("call_mismatch");
  ASSERT_NE(f, nullptr) << all_kinds(last);
  EXPECT_THAT(f->ranks, IsEmpty());
}

TEST_F(NumberedGroups, AreSilentWhileNoRankWaits) {
  makes(0, 1, 2, 0);
  makes(1, 1, 3, 1);
  EXPECT_EQ(finding("call_mismatch"), nullptr) << all_kinds(last);
}

// Rank 0 alone calls new_group([0, 1]); rank 1 has gone on to a barrier.
TEST_F(NumberedGroups, AMemberThatDoesNotComeIsAwaited) {
  waits_in(0, 1, 4, 0);
  for (const int r : {2, 3}) waits_in(r, 1, 4, r);
  job.blocked(1, barrier());
  job.wait(10s);
  EXPECT_EQ(finding("init_stall"), nullptr) << "it may come";
  job.wait(20s);
  const Finding* f = finding("init_stall");
  ASSERT_NE(f, nullptr) << all_kinds(last);
  EXPECT_EQ(f->ranks, std::vector<int>{1});
  EXPECT_THAT(f->text, HasSubstr("ranks wait in new_group 1: of 4 members rank 1 has not joined"));
  EXPECT_EQ(f->sides.front().call_site, "prog+0x104");
}

// Which of two ranks is the other member is not on record.
TEST_F(NumberedGroups, OneOfSeveralRanksIsNotBlamed) {
  waits_in(0, 1, 2, 0);
  for (const int r : {1, 2, 3}) job.blocked(r, barrier());
  job.wait(30s);
  const Finding* f = finding("init_stall");
  ASSERT_NE(f, nullptr) << all_kinds(last);
  EXPECT_THAT(f->ranks, IsEmpty());
  EXPECT_THAT(f->text, HasSubstr("1 of ranks 1 2 3 has not joined"));
}

// A rank that works before it joins may come.
TEST_F(NumberedGroups, ARankThatRunsIsNotAwaitedForEver) {
  for (const int r : {0, 2, 3}) waits_in(r, 1, 4, r);
  job.wait(30s);
  EXPECT_EQ(finding("init_stall"), nullptr) << all_kinds(last);
}

}  // namespace
}  // namespace rankfault::testing
