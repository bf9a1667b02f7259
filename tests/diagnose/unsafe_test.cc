// unsafe_test: jobs that finished only because the library buffered, and correct jobs that look like them.
#include <functional>

#include "tests/diagnose/finding_of.h"
#include "tests/support/journal_lines.h"

namespace rankfault::testing {
namespace {

CallSpec nonblocking(CallSpec spec) {
  spec.flags |= RF_CALL_NONBLOCKING;
  return spec;
}
CallSpec buffered(CallSpec spec) {
  spec.flags |= RF_CALL_BUFFERED;
  return spec;
}

// A job in which every rank ends well.
class Job : public TimelineBuilder {
 public:
  explicit Job(int ranks) : TimelineBuilder(ranks, RF_LIB_MPI), ranks_(ranks) {}

  uint64_t starts(int r, const CallSpec& spec) {
    enqueues(r, nonblocking(spec));
    return last_origin(r);
  }
  // The requests of a wait are complete when the wait returns. `seqs`: for collectives.
  Job& waits_for(int r, const std::vector<uint64_t>& origins) {
    waits(r, origins);
    for (const uint64_t origin : origins) completes(r, origin);
    returns(r);
    return *this;
  }
  Findings over() {
    for (int r = 0; r < ranks_; ++r) finalized(r).exits(r);
    return diagnose(build());
  }

 private:
  int ranks_;
};

// Checks that nothing went wrong, and returns how many orders rely on buffering.
size_t unsafe_orders(const Findings& found) {
  EXPECT_TRUE(found.nothing_wrong()) << all_kinds(found);
  EXPECT_TRUE(found.strict_known);
  return found.unsafe.size();
}

// Whether the replay came to an end. Without that, zero unsafe orders do not mean that the program is safe.
bool is_known(const Findings& found) {
  EXPECT_TRUE(found.unsafe.empty());
  return found.strict_known;
}

TEST(Unsafe, PlainSendsThatFaceEachOther) {
  Job job(2);
  job.does(0, send(1, 5)).does(1, send(0, 5)).does(0, recv(1, 5)).does(1, recv(0, 5));
  const Findings found = job.over();
  ASSERT_EQ(unsafe_orders(found), 1u);
  const Finding& f = found.unsafe.front();
  EXPECT_EQ(f.kind, "unsafe");
  EXPECT_EQ(f.confidence, Confidence::kStrict);
  EXPECT_EQ(f.claim, Claim::kNone);
  EXPECT_TRUE(f.ranks.empty());
  ASSERT_EQ(f.sides.size(), 2u);
  EXPECT_NE(f.text.find(
                "rank 0 would wait in send int32 x 4 to rank 1 tag 5 on world for recv from rank 0 tag 5 on "
                "world of rank 1"),
            std::string::npos)
      << f.text;
}

TEST(Unsafe, ARingInWhichEachSendsFirst) {
  Job job(3);
  for (const int r : {0, 1, 2}) job.does(r, send((r + 1) % 3));
  for (const int r : {0, 1, 2}) job.does(r, recv((r + 2) % 3));
  const Findings found = job.over();
  ASSERT_EQ(unsafe_orders(found), 1u);
  EXPECT_EQ(found.unsafe.front().sides.size(), 3u);
}

TEST(Unsafe, ARingInWhichOneReceivesFirstIsNot) {
  Job job(3);
  job.does(1, send(2)).does(2, recv(1)).does(2, send(0)).does(0, recv(2)).does(0, send(1)).does(1, recv(0));
  EXPECT_EQ(unsafe_orders(job.over()), 0u);
}

// The root left its broadcast before rank 1 came.
TEST(Unsafe, ARootedCollectiveAgainstAMessage) {
  for (const bool same_order : {false, true}) {
    Job job(2);
    if (same_order)
      job.everyone(broadcast(0)).does(0, send(1)).does(1, recv(0));
    else
      job.does(0, broadcast(0)).does(0, send(1)).does(1, recv(0)).does(1, broadcast(0));
    EXPECT_EQ(unsafe_orders(job.over()), same_order ? 0u : 1u);
  }
}

TEST(Unsafe, TwoCommunicatorsInAnotherOrder) {
  Job job(2);
  job.comm("other", {0, 1});
  job.does(0, broadcast(0)).does(1, on(broadcast(1), "other"));
  job.does(0, on(broadcast(1), "other")).does(1, broadcast(0));
  EXPECT_EQ(unsafe_orders(job.over()), 1u);
}

TEST(Unsafe, ANonblockingSendHoldsItsRankInItsWaitOnly) {
  for (const bool wait_first : {false, true}) {
    Job job(2);
    std::vector<uint64_t> sent;
    for (const int r : {0, 1}) sent.push_back(job.starts(r, send(1 - r)));
    for (const int r : {0, 1}) {
      if (wait_first) job.waits_for(r, {sent[static_cast<size_t>(r)]});
      job.does(r, recv(1 - r));
      if (!wait_first) job.waits_for(r, {sent[static_cast<size_t>(r)]});
    }
    const Findings found = job.over();
    ASSERT_EQ(unsafe_orders(found), wait_first ? 1u : 0u);
    if (!wait_first) continue;
    EXPECT_EQ(found.unsafe[0].sides[0].op, "wait");
    EXPECT_NE(found.unsafe[0].text.find("the wait for send"), std::string::npos) << found.unsafe[0].text;
  }
}

TEST(Unsafe, AReceiveThatWasStartedBeforeTheSendIsEnough) {
  Job job(2);
  std::vector<uint64_t> asked;
  for (const int r : {0, 1}) asked.push_back(job.starts(r, recv(1 - r)));
  for (const int r : {0, 1}) {
    job.does(r, send(1 - r));
    job.waits_for(r, {asked[static_cast<size_t>(r)]});
  }
  EXPECT_EQ(unsafe_orders(job.over()), 0u);
}

TEST(Unsafe, BothWaysAtOnceIsNot) {
  Job job(3);
  for (const int r : {0, 1, 2}) job.does(r, sendrecv((r + 1) % 3, (r + 2) % 3));
  EXPECT_EQ(unsafe_orders(job.over()), 0u);
}

TEST(Unsafe, ABufferedSendWaitsForNobody) {
  Job job(2);
  for (const int r : {0, 1}) job.does(r, buffered(send(1 - r)));
  for (const int r : {0, 1}) job.does(r, recv(1 - r));
  EXPECT_EQ(unsafe_orders(job.over()), 0u);
  Job pending(2);
  for (const int r : {0, 1}) pending.waits_for(r, {pending.starts(r, buffered(send(1 - r)))});
  for (const int r : {0, 1}) pending.does(r, recv(1 - r));
  EXPECT_EQ(unsafe_orders(pending.over()), 0u);
}

TEST(Unsafe, ASendToItselfNeedsItsReceiveBefore) {
  for (const bool asked_before : {false, true}) {
    Job job(1);
    if (asked_before) {
      const uint64_t asked = job.starts(0, recv(0));
      job.does(0, send(0));
      job.waits_for(0, {asked});
    } else {
      job.does(0, send(0)).does(0, recv(0));
    }
    EXPECT_EQ(unsafe_orders(job.over()), asked_before ? 0u : 1u);
  }
}

TEST(Unsafe, ANonblockingCollectiveHoldsItsRankInItsWaitOnly) {
  for (const bool wait_first : {false, true}) {
    Job job(2);
    const uint64_t root = job.starts(0, broadcast(0));
    if (wait_first) job.waits_for(0, {root});
    job.does(0, send(1)).does(1, recv(0));
    const uint64_t leaf = job.starts(1, broadcast(0));
    if (!wait_first) job.waits_for(0, {root});
    job.waits_for(1, {leaf});
    EXPECT_EQ(unsafe_orders(job.over()), wait_first ? 1u : 0u);
  }
}

// A probe takes nothing: the receive after it matches the same message.
TEST(Unsafe, AProbeNeedsItsMessageToBeSent) {
  for (const bool probe_first : {false, true}) {
    Job job(2);
    const auto exchange = [&](int r) {
      if (!probe_first) job.does(r, buffered(send(1 - r)));
      job.does(r, probe(1 - r)).does(r, recv(1 - r));
      if (probe_first) job.does(r, buffered(send(1 - r)));
    };
    exchange(0), exchange(1);
    EXPECT_EQ(unsafe_orders(job.over()), probe_first ? 1u : 0u);
  }
}

// Of one sender's messages each receive takes the first that fits: by the tag, not by the place.
TEST(Unsafe, MessagesOfOneSenderMeetTheirReceivesByTag) {
  Job job(2);
  std::vector<uint64_t> asked;
  for (const int tag : {0, 1, 2}) asked.push_back(job.starts(1, recv(0, tag)));
  for (const int tag : {2, 0, 1}) job.does(0, send(1, tag));
  job.waits_for(1, asked);
  EXPECT_EQ(unsafe_orders(job.over()), 0u);
  Job crossed(2);
  crossed.does(0, send(1, 1)).does(0, send(1, 2)).does(1, recv(0, 2)).does(1, recv(0, 1));
  EXPECT_EQ(unsafe_orders(crossed.over()), 1u) << "the first send waits for the second receive";
  Job any_tag(2);
  any_tag.does(0, send(1, 1)).does(0, send(1, 2)).does(1, recv(0, -1)).does(1, recv(0, 2));
  EXPECT_EQ(unsafe_orders(any_tag.over()), 0u);
}

// Sends that face each other, together with something that lets another run take another course, or that
// hides a part of this one.
TEST(Unsafe, IsSilentWhereAnotherRunMayGoAnotherWay) {
  const auto facing = [](Job& job) {
    job.does(0, send(1)).does(1, send(0)).does(0, recv(1)).does(1, recv(0));
  };
  Job speaks(3);
  facing(speaks);
  speaks.does(2, barrier()).does(0, barrier()).does(1, barrier());
  EXPECT_EQ(unsafe_orders(speaks.over()), 1u);

  Job wildcard(3);
  facing(wildcard);
  wildcard.does(0, send(2)).does(2, recv(RF_PEER_ANY));
  EXPECT_FALSE(is_known(wildcard.over()));

  Job either(3);
  facing(either);
  const uint64_t asked = either.starts(2, recv(0));
  either.does(0, send(2)).waits(2, {asked}, RF_OP_WAIT_ANY).completes(2, asked).returns(2);
  EXPECT_FALSE(is_known(either.over()));

  Job threads(3);
  threads.everyone(barrier());
  facing(threads);
  CallSpec other_thread = recv(0, 1);
  other_thread.lane = 1;
  threads.does(0, send(1, 1)).does(1, other_thread);
  EXPECT_FALSE(is_known(threads.over()));

  for (const auto& hide : std::vector<std::function<void(Job&)>>{
           [](Job& j) { j.rank(2).polled = true; }, [](Job& j) { j.rank(2).opaque = RF_OPAQUE_IO; },
           [](Job& j) { j.rank(2).partial = RF_PARTIAL_COMMS; },
           [](Job& j) { j.rank(2).history_lost = 1; }}) {
    Job job(3);
    job.everyone(barrier());
    facing(job);
    hide(job);
    EXPECT_FALSE(is_known(job.over()));
  }
}

TEST(Unsafe, IsSilentWhereTheJobDidNotEndWell) {
  for (const int how : {0, 1, 2}) {
    Job job(2);
    job.does(0, send(1)).does(1, send(0)).does(0, recv(1)).does(1, recv(0));
    for (const int r : {0, 1}) job.finalized(r);
    if (how != 0) job.exits(0);
    if (how == 1) job.killed(1);
    if (how == 2) job.exits(1, 3);
    EXPECT_FALSE(is_known(diagnose(job.build()))) << how;
  }
  Job failed(2);
  failed.does(0, send(1)).does(1, send(0)).does(0, recv(1)).does(1, recv(0)).fails(1, recv(0, 9), 5);
  EXPECT_FALSE(is_known(failed.over()));
}

TEST(Unsafe, IsNotKnownOfAJobWithoutRanksOrOfAnotherLibrary) {
  Timeline nobody;
  nobody.job_over = true;
  EXPECT_FALSE(is_known(diagnose(nobody)));
  TimelineBuilder gloo(2, RF_LIB_GLOO);
  gloo.everyone(all_reduce());
  for (const int r : {0, 1}) gloo.finalized(r).exits(r);
  EXPECT_FALSE(is_known(diagnose(gloo.build())));
}

// A call whose synchronization the standard leaves open holds no rank.
TEST(Unsafe, TheEndOfACommunicatorIsNoMeeting) {
  Job job(2);
  job.comm("other", {0, 1});
  CallSpec free_it = on(barrier(), "other");
  free_it.op = RF_OP_COMM_FREE;
  job.does(0, free_it).does(0, send(1)).does(1, recv(0)).does(1, free_it);
  EXPECT_EQ(unsafe_orders(job.over()), 0u);
}

TEST(Unsafe, IsKeptApartFromFindingsAndComesBackFromTheJournal) {
  Job job(2);
  job.everyone(all_reduce(8));
  job.does(0, send(1)).does(1, send(0)).does(0, recv(1)).does(1, recv(0));
  const Findings found = job.over();
  FindingsLog log;
  EXPECT_TRUE(log.add(found, false).empty()) << "no news of what happened";
  log.add(found, true);
  ASSERT_EQ(log.result().unsafe.size(), 1u);
  JournalLines lines;
  push_line(lines, {{"ev", "unsafe"}, {"finding", to_json(found.unsafe[0])}});
  push_line(lines, {{"ev", "finding"}, {"finding", to_json(found.all[0])}});
  push_line(lines, {{"ev", "look"}, {"last", true}, {"strict_known", true}});
  const Findings back = findings_from_journal(lines);
  EXPECT_TRUE(back.nothing_wrong());
  EXPECT_TRUE(back.strict_known);
  EXPECT_TRUE(log.result().strict_known);
  ASSERT_EQ(back.unsafe.size(), 1u);
  EXPECT_EQ(to_json(back.unsafe[0]).dump(), to_json(found.unsafe[0]).dump());
}

}  // namespace
}  // namespace rankfault::testing
