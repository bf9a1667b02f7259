// wedged_test: when calls that do not move are reported as wedged: on a busy machine, in calls that cannot
// match, and in calls on which a library works in its own threads.
#include <algorithm>

#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

// A neighbour that takes the cores without end does not suppress the report of a hang.
TEST(Wedged, WaitsForACoreForThreeTimesItsPatienceAndNoLonger) {
  TimelineBuilder job(3);
  for (int r : {0, 1, 2}) job.blocked(r, all_reduce());
  job.wait(59s);
  job.rank(1).starved = 59s;
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
  job.wait(2s);
  job.rank(1).starved = 61s;
  EXPECT_EQ(all_kinds(diagnose(job.build())), "wedged");
}

// PyTorch returns from a call on which its own thread works. The program waits for it elsewhere.
TEST(Wedged, CallsThatDifferAndAreWaitedForElsewhere) {
  for (const bool waits : {true, false}) {
    TimelineBuilder job(3, RF_LIB_C10D);
    job.everyone(all_reduce(), 5);
    job.enqueues(0, all_reduce()).enqueues(1, barrier()).enqueues(2, barrier());
    for (int r : {0, 1, 2}) {
      if (waits) {
        job.waits(r, {job.last_origin(r)});
        continue;
      }
      CallSpec execution = r == 0 ? all_reduce() : barrier();
      execution.flags = RF_CALL_EXECUTION;
      execution.lane = 1;
      --job.comm_of(r).entered;  // an execution takes no place
      job.blocked(r, execution);
    }
    for (int r : {0, 1, 2}) job.rank(r).starved = 60s;
    job.wait(15s);
    EXPECT_EQ(finding_of(diagnose(job.build()), "wedged"), nullptr);
    job.wait(6s);
    const Findings found = diagnose(job.build());
    EXPECT_NE(finding_of(found, "wedged"), nullptr) << waits << all_kinds(found);
    EXPECT_NE(finding_of(found, "call_mismatch"), nullptr) << all_kinds(found);
  }
}

// Two calls that face each other do not match, whether or not the third rank comes.
TEST(Wedged, OfCallsThatDifferOnlyThoseWhoMadeThemAreConcerned) {
  TimelineBuilder job(3);
  job.everyone(all_reduce()).blocked(0, all_reduce()).blocked(1, barrier()).wait(25s);
  const Finding* f = nullptr;
  const Findings found = diagnose(job.build());
  ASSERT_NE(f = finding_of(found, "wedged"), nullptr) << all_kinds(found);
  EXPECT_THAT(f->text, ::testing::HasSubstr("ranks 0 1 are in different calls"));
  TimelineBuilder goes_on(3);  // near miss: one of the two continued
  goes_on.everyone(all_reduce()).does(0, broadcast(0)).blocked(1, barrier()).wait(25s);
  EXPECT_EQ(finding_of(diagnose(goes_on.build()), "wedged"), nullptr);
}

// Ranks 0 and 1 cross two communicators on a stream; ranks 2 and 3 wait in one that has nothing to do with
// it.
TEST(Wedged, AKnotSilencesOnlyWhatStandsBehindIt) {
  TimelineBuilder job(4, RF_LIB_NCCL);
  job.comm("a", {0, 1}).comm("b", {0, 1}).comm("c", {2, 3});
  const auto enqueue = [&](int rank, const std::string& comm) {
    CallSpec spec = on(all_reduce(), comm);
    spec.flags |= RF_CALL_NONBLOCKING;
    spec.tag = 5;  // the stream
    job.enqueues(rank, spec);
    return job.last_origin(rank);
  };
  for (const int r : {0, 1, 2, 3}) {
    job.rank(r).coverage.push_back({RF_LIB_CUDA, RF_HOOK_PRELOAD, 0, "nccl", ""});
    std::vector<uint64_t> origins;
    for (const char* comm : {r == 1 ? "b" : "a", r == 1 ? "a" : "b"})
      origins.push_back(enqueue(r, r < 2 ? comm : "c"));
    job.host_waits(r, origins);
  }
  const Findings found = diagnose(job.wait(60s).build());
  ASSERT_NE(finding_of(found, "order_deadlock"), nullptr) << all_kinds(found);
  const Finding* f = finding_of(found, "wedged");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->comm, "c");
  EXPECT_EQ(std::count_if(found.all.begin(), found.all.end(),
                          [](const Finding& one) { return one.kind == "wedged"; }),
            1);
}

// Each rank sends its own count, and rank 1 takes more than rank 0 sends: rank 0 leaves, rank 1 stays.
TEST(Wedged, ARankStandsInACallThatTheOthersHaveLeft) {
  TimelineBuilder job(3, RF_LIB_MPI);
  CallSpec shares = all_reduce();
  shares.op = RF_OP_ALL_TO_ALLV;
  job.everyone(all_reduce()).does(0, shares).does(2, shares).blocked(1, shares);
  job.wait(1s).blocked(0, barrier()).blocked(2, barrier()).wait(19s);
  EXPECT_EQ(finding_of(diagnose(job.build()), "wedged"), nullptr);
  job.wait(6s);
  const Findings found = diagnose(job.build());
  ASSERT_EQ(all_kinds(found), "wedged");
  const Finding& f = found.all.front();
  EXPECT_TRUE(f.ranks.empty());
  EXPECT_EQ(f.seq->from, 2u);
  EXPECT_THAT(f.text,
              ::testing::StartsWith("rank 1 is in all_to_allv 2 on world, which all members entered; the "
                                    "others wait in later calls, and no call completes, "));
}

// The other rank is not in a call, so it is not known whether it will help.
TEST(Wedged, OneThatStandsAloneWhileTheOthersWorkIsNotCalledWell) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.everyone(all_reduce()).does(0, broadcast(0)).blocked(1, broadcast(0)).wait(19s);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
  job.wait(6s);
  EXPECT_TRUE(diagnose(job.build()).cannot_say()) << all_kinds(diagnose(job.build()));
}

// Calls that were enqueued long ago complete one after the other: the newest only waits in that queue.
TEST(Wedged, NotWhileTheCallsBeforeComplete) {
  TimelineBuilder job(2, RF_LIB_C10D);
  std::vector<uint64_t> first(2);
  for (int r : {0, 1}) {
    job.enqueues(r, all_reduce());
    first[static_cast<size_t>(r)] = job.last_origin(r);
  }
  for (int r : {0, 1}) {
    job.enqueues(r, all_reduce());
    job.waits(r, {job.last_origin(r)});
  }
  job.wait(25s);
  EXPECT_EQ(all_kinds(diagnose(job.build())), "wedged");
  for (int r : {0, 1}) job.completes(r, first[static_cast<size_t>(r)], "world", 1);
  EXPECT_EQ(finding_of(diagnose(job.build()), "wedged"), nullptr) << all_kinds(diagnose(job.build()));
}

}  // namespace
}  // namespace rankfault::testing
