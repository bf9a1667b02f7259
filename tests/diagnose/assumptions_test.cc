// assumptions_test: each assumption fails alone, and the finding becomes inferred.
#include "harness/diagnose/model/view.h"
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

TimelineBuilder proven_job() {
  TimelineBuilder job(3);
  job.everyone(all_reduce(), 2).blocked(0, all_reduce()).blocked(1, all_reduce()).killed(2);
  return job;
}

void expect_only(const Finding* f, const std::string& name) {
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(failed_assumptions(*f), std::vector<std::string>{name}) << to_json(*f).dump(1);
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_EQ(f->claim, Claim::kNone);
}

TEST(Assumptions, AllHoldForAPlainDeath) {
  const Findings found = diagnose(proven_job().build());
  EXPECT_TRUE(failed_assumptions(found.all.front()).empty());
  EXPECT_EQ(found.all.front().assumes.size(), 6u);
  EXPECT_EQ(found.all.front().confidence, Confidence::kProven);
}

TEST(Assumptions, EveryEdgeIsANeed) {
  TimelineBuilder job(3);  // Gloo makes the root of a broadcast wait for its children; it does not need them
  job.everyone(all_reduce(), 2).blocked(0, broadcast(0)).does(1, broadcast(0)).killed(2);
  const Findings found = diagnose(job.build());
  expect_only(finding_of(found, "dead_rank"), "every_edge_is_a_need");
}

TEST(Assumptions, EndsAreFinal) {
  TimelineBuilder job(3, RF_LIB_MPI);  // rank 2 is alive, outside a call, one call short of what it left out
  job.everyone(all_reduce(8, 0x10)).everyone(all_reduce(1, 0x20));
  job.everyone(all_reduce(8, 0x10)).everyone(all_reduce(1, 0x20));
  job.does(2, all_reduce(1, 0x20)).blocked(0, all_reduce(8, 0x10)).blocked(1, all_reduce(8, 0x10));
  job.wait(10s);
  const Findings found = diagnose(job.build());
  for (const Finding& f : found.all) EXPECT_NE(f.claim, Claim::kCannotReturn) << to_json(f).dump(1);
}

TEST(Assumptions, IssuersAreClosed) {
  // Two live ranks each wait for the other on two communicators: a cycle. A second lane of rank 1
  // that issued on the first communicator is free and may still come.
  TimelineBuilder job(2, RF_LIB_MPI);
  job.comm("a", {0, 1}).comm("b", {0, 1});
  job.everyone(on(all_reduce(), "a")).everyone(on(all_reduce(), "b"));
  CallSpec other_lane = on(all_reduce(), "a");
  job.does(0, other_lane);
  other_lane.lane = 1;
  job.does(1, other_lane);
  job.blocked(0, on(all_reduce(), "a")).blocked(1, on(all_reduce(), "b")).wait(60s);
  const Findings found = diagnose(job.build());
  expect_only(finding_of(found, "order_deadlock"), "issuers_closed");
}

TEST(Assumptions, FullView) {
  for (const auto hide : {+[](ProcessView& p) { p.opaque = RF_OPAQUE_COMMUNICATION; },
                          +[](ProcessView& p) { p.partial = RF_PARTIAL_COMMS; },
                          +[](ProcessView& p) { p.coverage.front().hook = RF_HOOK_NONE; }}) {
    TimelineBuilder job = proven_job();
    hide(job.rank(2));
    const Findings found = diagnose(job.build());
    expect_only(finding_of(found, "dead_rank"), "full_view");
  }
}

// A call that never began has no place in the library's order: the library may pair later calls otherwise.
TEST(Assumptions, FullViewEndsAtACallThatFailed) {
  for (const int failed : {0, 2}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    job.everyone(all_reduce(), 2);
    for (int r : {0, 1, 2})
      if (r == failed)
        job.fails(r, all_reduce(), 13);
      else
        job.does(r, all_reduce());
    job.blocked(0, all_reduce()).blocked(1, all_reduce()).killed(2);
    const Findings found = diagnose(job.build());
    expect_only(finding_of(found, "dead_rank"), "full_view");
  }
}

// A failure whose record is lost still counts: the communicator counts the calls that failed on it.
TEST(Assumptions, FullViewEndsAtACallThatFailedLongAgo) {
  for (const uint64_t failures : {0, 1}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    job.everyone(all_reduce(), 20).blocked(0, all_reduce()).blocked(1, all_reduce()).killed(2);
    for (const int r : {0, 1, 2}) job.loses(r, 20);
    job.comm_of(2).failures = failures;
    job.comm_of(2).error = 13;
    expect_only(finding_of(diagnose(job.build()), "dead_rank"), "full_view");
    job.comm_of(2).error = 0;
    EXPECT_EQ(finding_of(diagnose(job.build()), "dead_rank")->confidence, Confidence::kProven);
  }
}

TEST(Assumptions, SameCallsBefore) {
  TimelineBuilder job(3, RF_LIB_MPI);  // rank 2 left out the gather, in which only the root waits
  CallSpec gather = barrier();
  gather.op = RF_OP_GATHER;
  gather.peer = 0;
  job.everyone(all_reduce());
  for (int r : {0, 1}) job.does(r, gather);
  job.does(2, all_reduce()).everyone(all_reduce()).killed(2);
  job.does(0, all_reduce()).blocked(1, all_reduce());  // rank 2 gave its part as its third call
  expect_only(finding_of(diagnose(job.build()), "dead_rank"), "same_calls_before");
}

// Rank 2 left out nothing yet. Its reduce, for which no rank waits, may still be the one that rank 1 is in.
TEST(Assumptions, SameCallsBeforeOfOneThatIsBehind) {
  CallSpec reduce = broadcast(2);
  reduce.op = RF_OP_REDUCE;
  CallSpec to_one = reduce;
  to_one.peer = 1;
  for (const bool behind : {true, false}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    job.everyone(all_reduce()).does(0, reduce).does(1, reduce).killed(0);
    if (!behind) job.does(2, reduce).does(2, to_one);
    job.blocked(1, to_one);
    const Findings found = diagnose(job.build());
    const Finding* f = finding_of(found, "dead_rank");
    if (behind)
      expect_only(f, "same_calls_before");
    else
      EXPECT_EQ(f->confidence, Confidence::kProven);
  }
}

// Each node has a leader: the ranks of a node stay in their own call until their leader comes.
TEST(Assumptions, SameCallsBeforeOfOneThatWaitsForADeadRankElsewhere) {
  for (const std::string in : {"its call", "a wait for it", "a wait for one of several", "nothing"}) {
    TimelineBuilder job(4, RF_LIB_MPI);
    job.comm("node", {2, 3}).everyone(all_reduce()).killed(2);
    job.blocked(0, all_reduce()).blocked(1, all_reduce());
    CallSpec call = on(barrier(), "node");
    if (in == "its call") job.blocked(3, call);
    call.flags |= RF_CALL_NONBLOCKING;
    if (in.starts_with("a wait")) job.enqueues(3, call);
    if (in.starts_with("a wait"))
      job.waits(3, {job.last_origin(3)}, in == "a wait for it" ? RF_OP_WAIT : RF_OP_WAIT_ANY);
    const Findings found = diagnose(job.build());
    const Finding* world = nullptr;
    for (const Finding& f : found.all)
      if (f.kind == "dead_rank" && f.comm == "world") world = &f;
    if (in == "its call" || in == "a wait for it")
      EXPECT_EQ(world->confidence, Confidence::kProven) << in;
    else
      expect_only(world, "same_calls_before");
  }
}

// A receive from a rank that waits for the dead one never returns. A receive from any rank, or of a message
// that was sent already, may return.
TEST(Assumptions, SameCallsBeforeOfOneThatWaitsForAMessage) {
  for (const std::string of : {"rank 1", "what rank 1 sent", "any rank"}) {
    TimelineBuilder job(4, RF_LIB_MPI);
    job.everyone(all_reduce()).killed(2);
    if (of == "what rank 1 sent") job.does(1, send(3));
    job.blocked(0, all_reduce()).blocked(1, all_reduce());
    job.blocked(3, recv(of == "any rank" ? RF_PEER_ANY : 1));
    const Findings found = diagnose(job.build());
    const Finding* f = finding_of(found, "dead_rank");
    if (of == "rank 1")
      EXPECT_EQ(f->confidence, Confidence::kProven);
    else
      expect_only(f, "same_calls_before");
  }
}

// Makes 24 calls, one of which is `among`. With `left_out`, rank 2 makes an all_reduce instead of it.
TimelineBuilder job_with_losses(const CallSpec& among, bool left_out) {
  TimelineBuilder job(3, RF_LIB_MPI);
  for (int r : {0, 1, 2}) job.does(r, all_reduce(), 3);
  for (int r : {0, 1, 2}) job.does(r, left_out && r == 2 ? all_reduce() : among);
  for (int r : {0, 1, 2}) job.does(r, all_reduce(), 20);
  return job;
}
CallSpec gather() {
  CallSpec spec = broadcast(0);
  spec.op = RF_OP_GATHER;
  return spec;
}

TEST(Assumptions, SameCallsBeforeOfCallsThatRingsHaveLost) {
  for (const size_t lost : {0u, 20u}) {
    for (const bool left_out : {true, false}) {
      TimelineBuilder job = job_with_losses(gather(), left_out);
      job.killed(2).blocked(0, all_reduce()).blocked(1, all_reduce());
      for (int r : {0, 1, 2}) job.loses(r, lost);
      const Findings found = diagnose(job.build());
      const Finding* f = finding_of(found, "dead_rank");
      if (left_out)
        expect_only(f, "same_calls_before");
      else
        EXPECT_EQ(f->confidence, Confidence::kProven) << to_json(*f).dump(1);
    }
  }
}

std::string why_not(const Finding& f) {
  for (const Assumption& a : f.assumes)
    if (!a.holds) return a.why;
  return "";
}

// A call is compared by its place, operation, root and whether it blocks, but not by its length, which may
// differ by design.
TEST(Assumptions, SameCallsBeforeOfCallsThatRingsHaveLostSaysWhichDiffer) {
  CallSpec other_root = gather(), other_length = gather(), nonblocking = gather();
  other_root.peer = 1;
  other_length.count = 99;
  nonblocking.flags = RF_CALL_NONBLOCKING;
  for (const CallSpec& of_rank_2 : {other_root, other_length, nonblocking}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    for (int r : {0, 1, 2}) job.does(r, all_reduce()).does(r, r == 2 ? of_rank_2 : gather());
    job.everyone(all_reduce(), 5).killed(2).blocked(0, all_reduce()).blocked(1, all_reduce());
    for (int r : {0, 1, 2}) job.loses(r, 4);
    const Findings found = diagnose(job.build());
    const Finding* f = finding_of(found, "dead_rank");
    if (of_rank_2.count == 99) {
      EXPECT_EQ(f->confidence, Confidence::kProven);
      continue;
    }
    expect_only(f, "same_calls_before");
    EXPECT_EQ(why_not(*f),
              "the records of the first 2 calls on world are lost, and their checksums show that "
              "ranks 0 and 2 made different calls");
  }
}

// The others continued without rank 2, further than their rings reach back: no record is left to compare its
// last calls with.
TEST(Assumptions, SameCallsBeforeOfOneThatEndedBeforeWhatIsLeft) {
  for (const int calls : {4, 0}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    job.does(2, gather(), calls).killed(2);
    for (int r : {0, 1}) job.does(r, broadcast(1), 20);
    job.blocked(0, all_reduce()).blocked(1, all_reduce());
    for (int r : {0, 1}) job.loses(r, 20);
    const Findings found = diagnose(job.build());
    const Finding* f = finding_of(found, "dead_rank");
    if (calls == 0) {
      EXPECT_EQ(f->confidence, Confidence::kProven);
      continue;
    }
    expect_only(f, "same_calls_before");
    EXPECT_EQ(why_not(*f),
              "the records of the first 10 calls on world are lost, and rank 2 made 4 unknown "
              "calls");
  }
}

// A mismatch compares two calls of one place. If a lost call was left out, the two do not form a pair.
TEST(Assumptions, SameCallsBeforeOfAMismatch) {
  for (const size_t lost : {0u, 20u}) {
    for (const bool left_out : {true, false}) {
      TimelineBuilder job = job_with_losses(gather(), left_out);
      for (int r : {0, 1, 2}) job.loses(r, lost);
      for (int r : {0, 1, 2}) job.blocked(r, all_reduce(r == 2 ? 8 : 16));
      const Findings found = diagnose(job.build());
      const Finding* f = finding_of(found, "call_mismatch");
      if (left_out && lost != 0)
        expect_only(f, "same_calls_before");
      else
        EXPECT_EQ(f->confidence, Confidence::kProven);
    }
  }
}

// PyTorch gives each call a tag with its place: the sums are not compared, and the assumption holds.
TEST(Assumptions, SameCallsBeforeAsksPyTorchNothing) {
  TimelineBuilder job(3, RF_LIB_C10D);
  job.everyone(all_reduce(), 20).killed(2).blocked(0, all_reduce()).blocked(1, all_reduce());
  for (int r : {0, 1, 2}) {
    job.loses(r, 20);
    job.comm_of(r).calls = static_cast<uint64_t>(r);
  }
  const Findings found = diagnose(job.build());
  EXPECT_TRUE(assumption_holds(*finding_of(found, "dead_rank"), "same_calls_before"));
}

TEST(Assumptions, OneLook) {
  for (int moving : {0, 2}) {
    TimelineBuilder job = proven_job();
    job.rank(moving).stable = false;
    const Findings found = diagnose(job.build());
    expect_only(finding_of(found, "dead_rank"), "one_look");
  }
  Timeline torn = proven_job().build();
  torn.consistent = false;  // and it is unknown which process moved
  const Findings found = diagnose(torn);
  expect_only(finding_of(found, "dead_rank"), "one_look");
}

TEST(OnlyIssuer, IsTheOneLaneThatMadeCallsOnTheCommunicator) {
  CommView comm;
  EXPECT_EQ(only_issuer(comm), std::nullopt);
  comm.issuers = uint64_t{1} << 63;
  EXPECT_EQ(only_issuer(comm), 63u);
  comm.flags = RF_COMM_ISSUER_OVERFLOW;
  EXPECT_EQ(only_issuer(comm), std::nullopt);
  comm.flags = 0;
  comm.issuers |= 1;
  EXPECT_EQ(only_issuer(comm), std::nullopt);
}

}  // namespace
}  // namespace rankfault::testing
