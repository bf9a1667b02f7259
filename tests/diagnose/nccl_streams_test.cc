// nccl_streams_test: findings from the order of NCCL's operations on their streams.
#include "harness/diagnose/waits/stream_order.h"
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kStream = 5, kOther = 6;

CallSpec on_stream(CallSpec spec, int stream = kStream) {
  spec.flags |= RF_CALL_NONBLOCKING;
  spec.tag = stream;
  return spec;
}

CallSpec group(int tag) {
  CallSpec spec;
  spec.op = RF_OP_GROUP;
  spec.tag = tag;
  return spec;
}

// Three ranks with the communicators world and b. Five rounds of both were enqueued, and no rank looked at
// them.
class NcclStreams : public ::testing::Test {
 protected:
  NcclStreams() {
    job.comm("b", {0, 1, 2});
    for (int r = 0; r < 3; ++r) job.rank(r).coverage.push_back({RF_LIB_CUDA, RF_HOOK_PRELOAD, 0, "nccl", ""});
    for (int i = 0; i < 5; ++i)
      for (int r = 0; r < 3; ++r) both(r, false);
  }
  void one(int rank, const std::string& comm, int stream = kStream) {
    job.enqueues(rank, on_stream(on(all_reduce(), comm), stream));
    origins[rank].push_back(job.last_origin(rank));
  }
  void both(int rank, bool crossed, int stream_of_b = kStream) {
    for (const bool is_b : {crossed, !crossed}) one(rank, is_b ? "b" : "world", is_b ? stream_of_b : kStream);
  }
  Findings all_wait() {
    for (int r = 0; r < 3; ++r) job.host_waits(r, origins[r]);
    return diagnose(job.wait(30s).build());
  }

  TimelineBuilder job{3, RF_LIB_NCCL};
  std::map<int, std::vector<uint64_t>> origins;
};

TEST_F(NcclStreams, TwoCommunicatorsInOtherOrderOnOneStreamAreADeadlockWhereTheyDiffer) {
  for (int r = 0; r < 3; ++r) both(r, r == 1);
  for (int i = 0; i < 4; ++i)
    for (int r = 0; r < 3; ++r) both(r, false);
  const Findings found = all_wait();
  EXPECT_EQ(all_kinds(found), "order_deadlock");
  const Finding& f = found.all.front();
  EXPECT_EQ(f.confidence, Confidence::kInferred);
  EXPECT_EQ(f.ranks, std::vector<int>{1});
  EXPECT_EQ(f.comm, "world");
  EXPECT_EQ(f.seq->from, 6u) << "not where the ranks wait";
  EXPECT_THAT(f.text, HasSubstr("rank 1 put all_reduce 6 on b before all_reduce 6 on world on one stream"));
  ASSERT_EQ(f.sides.size(), 2u);
}

TEST_F(NcclStreams, IsToldOnlyOnceTheCallsAreOld) {
  for (int r = 0; r < 3; ++r) both(r, r == 1);
  EXPECT_EQ(finding_of(diagnose(job.build()), "order_deadlock"), nullptr);
  EXPECT_NE(finding_of(diagnose(job.wait(3s).build()), "order_deadlock"), nullptr);
}

TEST_F(NcclStreams, OnTwoStreamsTheOrderIsFree) {
  for (int r = 0; r < 3; ++r) both(r, r == 1, kOther);
  EXPECT_EQ(finding_of(all_wait(), "order_deadlock"), nullptr);
}

TEST_F(NcclStreams, SoItIsInOneGroupAndWhereTheStreamIsNotKnown) {
  for (const bool grouped : {true, false}) {
    NcclStreams::job = TimelineBuilder(3, RF_LIB_NCCL);
    job.comm("b", {0, 1, 2});
    origins.clear();
    for (int r = 0; r < 3; ++r) {
      if (grouped) job.does(r, group(0));
      for (const bool is_b : {r == 1, r != 1}) one(r, is_b ? "b" : "world", grouped ? kStream : 0);
      if (grouped) job.does(r, group(1));
    }
    EXPECT_EQ(finding_of(all_wait(), "order_deadlock"), nullptr) << grouped;
  }
}

// Groups are ordered by their ends. The operations of a group count as one on their stream.
TEST_F(NcclStreams, GroupsInOtherOrderAreADeadlockToo) {
  for (int r = 0; r < 3; ++r)
    for (const bool is_b : {r == 1, r != 1}) {
      job.does(r, group(0));
      one(r, is_b ? "b" : "world");
      one(r, is_b ? "b" : "world");
      job.does(r, group(1));
    }
  EXPECT_NE(finding_of(all_wait(), "order_deadlock"), nullptr);
}

// The root of a broadcast needs no other rank, and the others need only the root.
TEST_F(NcclStreams, WhatNeedsOnlyItsRootIsNoCircleWithoutIt) {
  const CallSpec from_0 = on_stream(broadcast(0)), from_0_on_b = on_stream(on(broadcast(0), "b"));
  for (int r = 0; r < 3; ++r)
    for (const bool is_b : {r == 1, r != 1}) {
      job.enqueues(r, is_b ? from_0_on_b : from_0);
      origins[r].push_back(job.last_origin(r));
    }
  EXPECT_EQ(finding_of(all_wait(), "order_deadlock"), nullptr) << "ranks 1 and 2 do not wait for each other";
}

TEST_F(NcclStreams, OfACapturedGraphNothingIsKnown) {
  for (int r = 0; r < 3; ++r) both(r, r == 1);
  job.rank(1).opaque |= RF_OPAQUE_COMMUNICATION;
  EXPECT_EQ(finding_of(all_wait(), "order_deadlock"), nullptr);
}

// Rank 1 receives and sends in each round, but does not send in the last but one.
class NcclRounds : public ::testing::Test {
 protected:
  NcclRounds() {
    for (int r = 0; r < 2; ++r) job.rank(r).coverage.push_back({RF_LIB_CUDA, RF_HOOK_PRELOAD, 0, "nccl", ""});
  }
  uint64_t put(int rank, const CallSpec& spec) {
    job.enqueues(rank, on_stream(spec));
    return job.last_origin(rank);
  }
  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      const uint64_t origins[] = {put(0, send(1)), put(0, recv(1)), put(1, recv(0)), put(1, send(0))};
      for (int at = 0; at < 4; ++at) job.completes(at / 2, origins[at]);
    }
  }
  void wait(int rank, std::vector<uint64_t> origins) { job.host_waits(rank, origins); }
  Findings look() { return diagnose(job.wait(5s).build()); }

  TimelineBuilder job{2, RF_LIB_NCCL};
};

TEST_F(NcclRounds, ASendThatIsLeftOutInOneRoundIsMissing) {
  rounds(3);
  const uint64_t sent = put(0, send(1)), received = put(1, recv(0));
  wait(0, {sent, put(0, recv(1))});
  job.completes(1, received);
  const uint64_t next = put(1, recv(0));
  wait(1, {next, put(1, send(0))});
  const Findings found = look();
  const Finding* f = finding_of(found, "missing_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_EQ(f->ranks, std::vector<int>{1});
  EXPECT_EQ(f->op, "send");
  EXPECT_THAT(f->text, HasSubstr("rank 1 left out send to rank 0 on world before recv from rank 0"));
  EXPECT_EQ(finding_of(found, "order_deadlock"), nullptr);
}

// The record does not show which of the two ranks is right.
TEST_F(NcclRounds, WithoutEarlierRoundsItIsADeadlock) {
  const uint64_t sent = put(0, send(1)), received = put(1, recv(0));
  wait(0, {sent, put(0, recv(1))});
  job.completes(1, received);
  const uint64_t next = put(1, recv(0));
  wait(1, {next, put(1, send(0))});
  const Findings found = look();
  EXPECT_EQ(finding_of(found, "missing_call"), nullptr);
  const Finding* f = finding_of(found, "order_deadlock");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_TRUE(f->ranks.empty());
}

TEST_F(NcclRounds, AReceiveBehindAnotherOneThatWillCompleteIsNoCircle) {
  rounds(3);
  const uint64_t first = put(1, recv(0));
  wait(1, {first, put(1, send(0))});
  const uint64_t received = put(0, recv(1));
  put(0, send(1));  // behind the receive, but rank 0 has not looked yet: it continues
  job.completes(0, received);
  EXPECT_EQ(finding_of(look(), "missing_call"), nullptr);
  EXPECT_EQ(finding_of(look(), "order_deadlock"), nullptr);
}

// Rank 0 sends a larger message while rank 1 receives one more of the old size: either may be wrong.
TEST_F(NcclRounds, OfTwoRanksNobodyIsBlamedForSizesThatDiffer) {
  rounds(5);
  CallSpec larger = send(1);
  larger.count = 64;
  wait(0, {put(0, larger)});
  wait(1, {put(1, recv(0))});
  const Findings found = look();
  const Finding* f = finding_of(found, "missing_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_TRUE(f->ranks.empty());
  EXPECT_EQ(f->sides.size(), 2u);
  EXPECT_THAT(f->text, HasSubstr("either rank 0 left out message 6 to rank 1"));
  EXPECT_THAT(f->text, HasSubstr("or rank 1 made one too many"));
}

// Ranks pass 16 elements on in a ring. Rank 1 makes one round less and continues with the next part.
class NcclRing : public ::testing::Test {
 protected:
  uint64_t pass_on(int rank, uint64_t count, bool seen) {
    CallSpec to = on_stream(send((rank + 1) % 3)), from = on_stream(recv((rank + 2) % 3));
    to.count = from.count = count;
    job.does(rank, group(0)).enqueues(rank, to);
    const uint64_t sent = job.last_origin(rank);
    job.enqueues(rank, from);
    const uint64_t received = job.last_origin(rank);
    job.does(rank, group(1));
    if (!seen)
      job.host_waits(rank, {sent, received});
    else
      job.completes(rank, sent).completes(rank, received);
    return sent;
  }
  void rounds(int count) {
    for (int i = 0; i < count; ++i)
      for (int r = 0; r < 3; ++r) pass_on(r, 16, true);
  }
  TimelineBuilder job{3, RF_LIB_NCCL};
};

TEST_F(NcclRing, TheRankThatIsOneRoundAheadLeftOneOut) {
  rounds(9);
  for (int r = 0; r < 3; ++r) pass_on(r, r == 1 ? 1 : 16, false);
  EXPECT_EQ(finding_of(diagnose(job.build()), "missing_call"), nullptr) << "the calls are young";
  const Findings found = diagnose(job.wait(5s).build());
  const Finding* f = finding_of(found, "missing_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_EQ(f->ranks, std::vector<int>{1}) << f->text;
  EXPECT_THAT(f->text, HasSubstr("left out message 10"));
  EXPECT_EQ(f->evidence.size(), 2u) << "to rank 2, and from rank 0";
}

TEST_F(NcclRing, WhereAllGoOnToAnotherSizeNobodyLeftOutAnything) {
  rounds(9);
  for (int r = 0; r < 3; ++r) pass_on(r, 1, false);
  EXPECT_EQ(finding_of(diagnose(job.wait(5s).build()), "missing_call"), nullptr);
}

// The first message of a pair: neither size occurred before.
TEST_F(NcclRing, OfTwoNewSizesNeitherRankIsAhead) {
  for (int r = 0; r < 3; ++r) pass_on(r, r == 1 ? 1 : 16, false);
  EXPECT_EQ(finding_of(diagnose(job.wait(5s).build()), "missing_call"), nullptr);
}

TEST_F(NcclRing, OfRecordsThatAreLostNothingIsCounted) {
  rounds(9);
  for (int r = 0; r < 3; ++r) pass_on(r, r == 1 ? 1 : 16, false);
  for (int r = 0; r < 3; ++r) job.rank(r).history_lost = 1;
  EXPECT_EQ(finding_of(diagnose(job.wait(5s).build()), "missing_call"), nullptr);
}

// Rank 1 sends, reduces, sends. Rank 0 receives twice before it reduces. The receives of two threads may
// reach the library in an order other than that of the record: then the reduction waits for neither of them.
TEST(NcclMessageOrder, MessagesOfTwoThreadsHaveNone) {
  for (const uint32_t other_lane : {0u, 1u}) {
    TimelineBuilder job(2, RF_LIB_NCCL);
    for (int r : {0, 1}) job.rank(r).coverage.push_back({RF_LIB_CUDA, RF_HOOK_PRELOAD, 0, "nccl", ""});
    CallSpec second = on_stream(recv(1)), reduction = on_stream(all_reduce());
    second.lane = reduction.lane = other_lane;
    job.enqueues(0, on_stream(recv(1), kOther)).enqueues(0, second).enqueues(0, reduction);
    for (const CallSpec& call : {send(0), all_reduce(), send(0)}) job.enqueues(1, on_stream(call));
    const Timeline timeline = job.wait(30s).build();
    const JobView view(timeline);
    const StreamKnot& knot = view.stream_knot(DiagnoseOptions{});
    EXPECT_EQ(knot.steps.empty(), other_lane == 1) << "lane " << other_lane;
  }
}

}  // namespace
}  // namespace rankfault::testing
