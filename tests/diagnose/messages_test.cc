// messages_test: point to point: what proves that a message does not come, and what only looks like a proof.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

const Finding& only_finding(const Findings& found) {
  EXPECT_EQ(found.all.size(), 1u) << all_kinds(found);
  return found.all.front();
}

void expect_proven(TimelineBuilder& job, const std::string& kind) {
  const Findings found = diagnose(job.build());
  const Finding& f = only_finding(found);
  EXPECT_EQ(f.kind, kind) << f.text;
  EXPECT_EQ(f.confidence, Confidence::kProven) << to_json(f).dump(1);
  EXPECT_FALSE(f.claimed.empty());
}

void expect_quiet(TimelineBuilder& job) {
  for (const Finding& f : diagnose(job.build()).all)
    EXPECT_TRUE(f.kind == "none" || f.kind == "cannot_say") << to_json(f).dump(1);
}

TEST(Messages, ReceivesThatStandBeforeTheirSendsAreACycle) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.blocked(0, recv(1)).blocked(1, recv(0));
  expect_proven(job, "order_deadlock");
}

TEST(Messages, AMessageOnItsWayIsNoCycle) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.does(0, send(1)).blocked(0, recv(1)).blocked(1, recv(0));
  expect_quiet(job);
}

TEST(Messages, AMessageThatWasTakenIsNotThereAnyMore) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.does(0, send(1)).does(1, recv(0)).blocked(0, recv(1)).blocked(1, recv(0));
  expect_proven(job, "order_deadlock");
}

// The wildcard took one of the two messages. Which one is not known, but it took no more than were sent.
TEST(Messages, WildcardsOnlyTakeAway) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.does(0, send(1, 5)).does(0, send(1, 6)).does(1, recv(0, -1)).blocked(0, recv(1)).blocked(1, recv(0, 5));
  expect_quiet(job);
  TimelineBuilder none(2, RF_LIB_MPI);
  none.does(0, send(1, 6)).does(1, recv(0, -1)).blocked(0, recv(1)).blocked(1, recv(0, 5));
  expect_proven(none, "order_deadlock");
}

// Two ranks have sent. The wildcard took one message, and the other may not be received yet.
TEST(Messages, AWildcardMayHaveTakenSomebodyElses) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.does(0, send(2)).does(1, send(2)).does(2, recv(RF_PEER_ANY)).blocked(2, recv(1)).blocked(1, recv(2));
  expect_quiet(job);
}

TEST(Messages, OtherTagsDoNotServe) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.does(0, send(1, 7)).finalized(0).blocked(1, recv(0, 5));
  const Findings found = diagnose(job.build());
  const Finding& f = only_finding(found);
  EXPECT_EQ(f.kind, "missing_call") << f.text;  // or the wrong tag: nothing distinguishes the two
  EXPECT_EQ(f.evidence.back(), "no rank received a message of rank 0 with tag 7");
  EXPECT_EQ(f.confidence, Confidence::kProven);
}

TEST(Messages, APartnerThatHasFinalisedSendsNoMore) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.finalized(2).blocked(1, recv(2));
  const Findings found = diagnose(job.build());
  const Finding& f = only_finding(found);
  EXPECT_EQ(f.kind, "missing_call");
  EXPECT_TRUE(f.ranks.empty());
  EXPECT_EQ(f.op, "send");
  EXPECT_EQ(f.sides.size(), 2u);
  EXPECT_EQ(f.confidence, Confidence::kProven);
}

TEST(Messages, OfADeadRankDoNotCome) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.blocked(0, recv(2, 4)).killed(2);
  const Findings found = diagnose(job.build());
  const Finding& f = only_finding(found);
  EXPECT_EQ(f.kind, "dead_rank");
  EXPECT_EQ(f.confidence, Confidence::kProven) << to_json(f).dump(1);
  EXPECT_NE(f.text.find("left recv from rank 2 tag 4 on world of rank 0 without its partner"),
            std::string::npos)
      << f.text;
}

TEST(Messages, OfADeadRankThatWereSentDoCome) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.does(2, send(0, 4)).blocked(0, recv(2, 4)).killed(2);
  for (const Finding& f : diagnose(job.build()).all) EXPECT_EQ(f.confidence, Confidence::kInferred) << f.text;
}

TEST(Messages, FromAnySourceWaitForOneOfAll) {
  TimelineBuilder job(3, RF_LIB_MPI);  // rank 2 is alive and may send
  job.blocked(0, recv(RF_PEER_ANY)).blocked(1, recv(0));
  expect_quiet(job);
  job.blocked(2, recv(0));
  expect_proven(job, "order_deadlock");
}

TEST(Messages, FromAnySourceOfRanksThatAreAllOver) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.blocked(0, recv(RF_PEER_ANY)).finalized(1);
  expect_quiet(job);
  job.finalized(2);
  expect_proven(job, "missing_call");
}

TEST(Messages, ACollectiveAgainstAMessage) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.blocked(0, barrier()).blocked(1, recv(0));
  expect_proven(job, "order_deadlock");
}

TEST(Messages, SynchronousSendsWaitForTheirReceives) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.blocked(0, ssend(1)).blocked(1, ssend(0));
  expect_proven(job, "order_deadlock");
  TimelineBuilder fits(2, RF_LIB_MPI);
  fits.enqueues(1, recv(0)).blocked(0, ssend(1)).blocked(1, ssend(0));
  expect_quiet(fits);
}

// The library chooses whether a plain send waits: two that face each other prove nothing.
TEST(Messages, PlainSendsThatFaceEachOtherAreInferredAfterAWhile) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.blocked(0, send(1)).blocked(1, send(0));
  expect_quiet(job);
  job.wait(10s);
  const Findings found = diagnose(job.build());
  EXPECT_EQ(only_finding(found).kind, "order_deadlock");
  EXPECT_EQ(failed_assumptions(found.all[0]), std::vector<std::string>{"every_edge_is_a_need"});
}

// A library that buffers has copied the message long before. The rule waits longer for a rank that had no
// core, is stopped, copies much, or has another thread that may receive.
TEST(Messages, PlainSendsAreNotWaitedForLongerThanACopyTakes) {
  const auto told_after = [](Duration time, const std::function<void(ProcessView&)>& of_rank_0,
                             uint64_t count) {
    TimelineBuilder job(2, RF_LIB_MPI);
    CallSpec large = send(1);
    large.count = count;
    job.blocked(0, large).blocked(1, send(0));
    of_rank_0(job.rank(0));
    job.wait(time);
    return all_kinds(diagnose(job.build()));
  };
  const auto as_it_is = [](ProcessView&) {};
  const auto starved = [](ProcessView& p) { p.starved = 600ms; };
  const auto stopped = [](ProcessView& p) { p.stopped = true; };
  const auto with_threads = [](ProcessView& p) { p.thread_multiple = true; };
  EXPECT_EQ(told_after(200ms, as_it_is, 1), "none");
  EXPECT_EQ(told_after(300ms, as_it_is, 1), "order_deadlock");
  EXPECT_EQ(told_after(800ms, starved, 1), "none");
  EXPECT_EQ(told_after(900ms, starved, 1), "order_deadlock");
  EXPECT_EQ(told_after(1500ms, stopped, 1), "none");
  const auto unmeasured = [](ProcessView& p) { p.measured_since = kEndOfTime; };
  EXPECT_EQ(told_after(1500ms, unmeasured, 1), "none") << "it may have had no core all the time";
  EXPECT_EQ(told_after(1500ms, with_threads, 1), "none");
  EXPECT_EQ(told_after(900ms, as_it_is, 40'000'000), "none");
  EXPECT_EQ(told_after(1950ms, as_it_is, 40'000'000), "order_deadlock");
}

TEST(Messages, AWaitForAllNeedsEachOfItsRequests) {
  TimelineBuilder job(3, RF_LIB_MPI);
  std::vector<uint64_t> origins;
  for (const int tag : {1, 2, 3, 4}) {
    job.enqueues(0, recv(1, tag));
    origins.push_back(job.last_origin(0));
    if (tag != 3) job.does(1, send(0, tag));
  }
  job.waits(0, origins).blocked(1, barrier()).blocked(2, barrier());
  expect_proven(job, "order_deadlock");  // rank 1 is in a barrier, and never sent tag 3
}

TEST(Messages, AWaitForOneOfSeveralNeedsOne) {
  for (const bool served : {true, false}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    std::vector<uint64_t> origins;
    for (const int tag : {1, 2, 3}) {
      job.enqueues(0, recv(1, tag));
      origins.push_back(job.last_origin(0));
    }
    if (served) job.does(1, send(0, 2));
    job.waits(0, origins, RF_OP_WAIT_ANY).blocked(1, barrier()).blocked(2, barrier());
    if (served)
      expect_quiet(job);
    else
      expect_proven(job, "order_deadlock");
  }
}

TEST(Messages, AWaitOfWhichARequestIsUnknownMayBeServed) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.enqueues(0, recv(1, 1)).waits(0, {job.last_origin(0)}, RF_OP_WAIT_ANY);
  job.lane_of(0).state.pending_count = 2;
  job.blocked(1, recv(0));
  expect_quiet(job);
}

TEST(Messages, APendingReceiveHoldsNobodyUntilItIsWaitedFor) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.enqueues(0, recv(1)).blocked(1, recv(0));
  expect_quiet(job);
}

// A request that is cancelled in the end, or one of several of which another completes, does not need its
// message.
TEST(Messages, ARequestThatNobodyWaitsForIsNotMissed) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.enqueues(1, recv(0, 9)).finalized(0);
  expect_quiet(job);
  job.enqueues(1, recv(2, 9)).waits(1, {RF_ORIGIN(0, 1), RF_ORIGIN(0, 2)}, RF_OP_WAIT_ANY);
  expect_quiet(job);
  job.returns(1).waits(1, {RF_ORIGIN(0, 1)});
  expect_proven(job, "missing_call");
}

TEST(Messages, FromAnySourceMayComeFromARankThatWasNotSeenWhole) {
  for (const auto hide :
       {+[](Timeline& t) { t.processes[2].history_lost = 5; },
        +[](Timeline& t) { t.processes[2].comms.clear(); }, +[](Timeline& t) { t.processes.pop_back(); }}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    job.blocked(0, recv(RF_PEER_ANY, 5)).blocked(1, recv(0, 5));
    Timeline t = job.build();
    hide(t);
    for (const Finding& f : diagnose(t).all) EXPECT_NE(f.confidence, Confidence::kProven) << f.text;
  }
}

TEST(Messages, OfARankWithoutARecordNothingIsKnown) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.blocked(0, recv(2)).blocked(1, recv(0));
  Timeline t = job.build();
  t.processes.pop_back();
  for (const Finding& f : diagnose(t).all) EXPECT_NE(f.confidence, Confidence::kProven) << f.text;
}

// A cancelled receive looks like one that matches first. Only its status tells, so nothing is proven.
TEST(Messages, AWaiterThatWasNotSeenWholeProvesNothing) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.does(0, send(1, 5)).finalized(0).enqueues(1, recv(0, 5)).blocked(1, recv(0, 5));
  job.rank(1).opaque = RF_OPAQUE_COMMUNICATION;
  const Findings found = diagnose(job.build());
  EXPECT_EQ(failed_assumptions(found.all.front()), std::vector<std::string>{"full_view"});
}

// A thread that serves requests waits without end while the other threads of its process run.
TEST(Messages, AServersThreadIsNoDeadlock) {
  TimelineBuilder job(2, RF_LIB_MPI);
  for (const int r : {0, 1}) {
    CallSpec serves = recv(1 - r, 3);
    serves.lane = 1;
    job.blocked(r, serves);
    job.lane_of(r, 0);
    job.rank(r).thread_multiple = true;
  }
  expect_quiet(job);
}

// The same while the other thread of one rank is in a call that all have entered, and which may return.
TEST(Messages, AServersThreadBesideACallThatAllHaveEnteredIsNoDeadlock) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.comm("beside", {0, 1});
  for (const int r : {0, 1}) {
    CallSpec serves = on(recv(RF_PEER_ANY, -1), "beside");
    serves.lane = 1;
    job.blocked(r, serves);
    job.rank(r).thread_multiple = true;
  }
  job.does(0, all_reduce()).blocked(0, barrier());
  job.blocked(1, all_reduce());
  for (const Finding& f : diagnose(job.build()).all) EXPECT_NE(f.kind, "order_deadlock") << f.text;
}

TEST(Messages, ASendreceiveNeedsItsReceivingHalf) {
  TimelineBuilder job(3, RF_LIB_MPI);
  for (const int r : {0, 1, 2}) job.blocked(r, sendrecv((r + 1) % 3, (r + 2) % 3));
  expect_quiet(job);
  TimelineBuilder wrong(3, RF_LIB_MPI);  // each waits for the rank it sends to
  for (const int r : {0, 1, 2}) wrong.blocked(r, sendrecv((r + 1) % 3, (r + 1) % 3));
  expect_proven(wrong, "order_deadlock");
}

TEST(Messages, AProbeTakesNothing) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.does(0, send(1)).does(1, probe(0)).blocked(1, probe(0)).blocked(0, recv(1));
  expect_quiet(job);
}

TEST(Messages, ALostRecordProvesNothing) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.blocked(0, recv(1)).blocked(1, recv(0));
  job.rank(1).history_lost = 1;
  for (const Finding& f : diagnose(job.build()).all) EXPECT_EQ(f.confidence, Confidence::kInferred) << f.text;
}

TEST(Messages, ToItselfInOrderIsWell) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.does(0, send(0)).blocked(0, recv(0));
  expect_quiet(job);
  job.returns(0).blocked(0, recv(0));
  expect_proven(job, "order_deadlock");
}

// Two were sent and two were received, by either receive: the third waits for a message that is not sent.
TEST(Messages, FromAnySourceOnceAllThatWasSentIsTaken) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.does(1, send(0)).does(2, send(0)).does(0, recv(RF_PEER_ANY)).does(0, recv(2));
  job.finalized(1).finalized(2).blocked(0, recv(RF_PEER_ANY));
  expect_proven(job, "missing_call");
}

TEST(Messages, FromAnySourceWhileOneMayStillLieThere) {
  TimelineBuilder job(3, RF_LIB_MPI);  // the receive of any tag may have taken tag 6
  job.does(1, send(0, 5)).does(2, send(0, 6)).does(0, recv(RF_PEER_ANY, -1));
  job.finalized(1).finalized(2).blocked(0, recv(RF_PEER_ANY, 5));
  expect_quiet(job);
  TimelineBuilder null(2, RF_LIB_MPI);  // a receive from RF_PEER_NULL takes nothing
  null.does(1, send(0)).does(0, recv(RF_PEER_NULL)).finalized(1).blocked(0, recv(RF_PEER_ANY));
  expect_quiet(null);
}

// The receiver is alone against two ranks, but it is the one whose message did not come.
TEST(Messages, WhoWaitsForAMessageIsNotOutvotedByABarrier) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.comm("other", {0, 1, 2}).blocked(0, barrier()).blocked(1, barrier()).blocked(2, on(recv(1), "other"));
  const Findings found = diagnose(job.build());
  EXPECT_EQ(only_finding(found).kind, "order_deadlock");
  EXPECT_TRUE(found.all[0].ranks.empty());
}

// A receive posted as a precaution and cancelled in the end: legal, and no rank waits for it.
TEST(Messages, ARequestNobodyWaitsForMayBeCancelled) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.enqueues(0, recv(1)).finalized(1);
  expect_quiet(job);
  job.waits(0, {job.last_origin(0)});
  expect_proven(job, "missing_call");
}

TEST(Messages, AWaitForOneGoesOnWithAnotherThoughThisOneNeverComes) {
  for (const bool both : {false, true}) {
    TimelineBuilder job(3, RF_LIB_MPI);
    job.enqueues(0, recv(1));
    const uint64_t first = job.last_origin(0);
    job.enqueues(0, recv(2));
    job.waits(0, {first, job.last_origin(0)}, RF_OP_WAIT_ANY).finalized(1);
    if (both) job.finalized(2);
    const Findings found = diagnose(job.build());
    EXPECT_EQ(finding_of(found, "missing_call") != nullptr, both) << all_kinds(found);
  }
}

TEST(Messages, WorkBesidePendingCallsIsNotSlow) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.enqueues(0, recv(1)).wait(5s);
  expect_quiet(job);
  job.waits(0, {job.last_origin(0)}).wait(16s);  // it was at work for 5 s before
  EXPECT_NE(finding_of(diagnose(job.build()), "slow_rank"), nullptr);
}

}  // namespace
}  // namespace rankfault::testing
