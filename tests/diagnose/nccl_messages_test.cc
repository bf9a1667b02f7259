// nccl_messages_test: findings about a send or receive of NCCL whose partner never comes.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;

CallSpec pending(CallSpec spec) {
  spec.flags |= RF_CALL_NONBLOCKING;
  return spec;
}

CallSpec group(int tag) {
  CallSpec spec;
  spec.op = RF_OP_GROUP;
  spec.tag = tag;
  return spec;
}

// Two ranks with both hooks; one message from 1 to 0 has come.
TimelineBuilder job_of_two() {
  TimelineBuilder job(2, RF_LIB_NCCL);
  for (int r : {0, 1}) {
    job.rank(r).coverage.push_back({RF_LIB_CUDA, RF_HOOK_PRELOAD, 0, "nccl", ""});
    job.enqueues(r, pending(r == 0 ? recv(1) : send(0)));
    job.completes(r, job.last_origin(r));
  }
  return job;
}

void waits_for(TimelineBuilder& job, int rank, const CallSpec& spec) {
  job.enqueues(rank, pending(spec));
  job.host_waits(rank, {job.last_origin(rank)});
}

TEST(NcclMessages, AReceiveOfARankThatEndedWithoutSendingIsProven) {
  TimelineBuilder job = job_of_two();
  waits_for(job, 0, recv(1));
  const Findings found = diagnose(job.exits(1).build());
  const Finding* f = finding_of(found, "missing_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->confidence, Confidence::kProven) << to_json(*f).dump(1);
  EXPECT_EQ(f->op, "send");
  EXPECT_THAT(f->text, HasSubstr("rank 1 made no send for it and makes no more calls"));
}

TEST(NcclMessages, OneThatWasSentIsNotMissing) {
  TimelineBuilder job = job_of_two();
  job.enqueues(1, pending(send(0)));
  waits_for(job, 0, recv(1));
  const Findings found = diagnose(job.exits(1).build());
  EXPECT_EQ(finding_of(found, "missing_call"), nullptr) << all_kinds(found);
}

// NCCL may or may not hold a send back: the record does not say which.
TEST(NcclMessages, ASendThatNobodyWillReceiveIsInferred) {
  TimelineBuilder job = job_of_two();
  waits_for(job, 0, send(1));
  const Findings found = diagnose(job.exits(1).build());
  const Finding* f = finding_of(found, "missing_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(failed_assumptions(*f), std::vector<std::string>{"every_edge_is_a_need"});
  EXPECT_EQ(f->op, "recv");
}

TEST(NcclMessages, APartnerThatIsKilledIsTheOneThatIsMissed) {
  TimelineBuilder job = job_of_two();
  waits_for(job, 0, recv(1));
  const Findings found = diagnose(job.killed(1).build());
  const Finding* f = finding_of(found, "dead_rank");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->confidence, Confidence::kProven) << to_json(*f).dump(1);
  EXPECT_THAT(f->text, HasSubstr("left recv"));
}

TEST(NcclMessages, APartnerThatLivesIsNamedLate) {
  for (const CallSpec& call : {recv(1), send(1)}) {
    TimelineBuilder job = job_of_two();
    waits_for(job, 0, call);
    EXPECT_TRUE(diagnose(job.build()).nothing_wrong());
    const Findings found = diagnose(job.wait(1min).build());
    const Finding* f = finding_of(found, "slow_rank");
    ASSERT_NE(f, nullptr) << all_kinds(found);
    EXPECT_EQ(f->ranks, std::vector<int>{1});
    EXPECT_EQ(f->confidence, Confidence::kInferred);
    EXPECT_THAT(f->evidence[0], HasSubstr("rank 0 waits in cudaStreamSynchronize for "));
  }
}

TEST(NcclMessages, OneThatNobodyWaitsForHoldsNobody) {
  TimelineBuilder job = job_of_two();
  job.enqueues(0, pending(recv(1))).enqueues(0, pending(send(1)));
  const Findings found = diagnose(job.wait(1min).build());
  EXPECT_EQ(finding_of(found, "slow_rank"), nullptr) << all_kinds(found);
}

// One process with four devices: one member for each device, all of one rank. The ring of NCCL's examples.
struct Ring {
  TimelineBuilder job{1, RF_LIB_NCCL};
  std::vector<uint64_t> awaited;

  static std::string member(int device) { return "ring/" + std::to_string(device); }
  explicit Ring(int device_awaited, int without_send = -1) {
    job.rank(0).coverage.push_back({RF_LIB_CUDA, RF_HOOK_PRELOAD, 0, "nccl", ""});
    for (int d = 0; d < 4; ++d) {
      CommView c = job.comm_of(0);
      c.index = static_cast<uint32_t>(job.rank(0).comms.size());
      c.id = 77;
      c.size = 4;
      c.rank = d;
      c.members = {0, 0, 0, 0};
      c.flags = RF_COMM_POSITIONAL;
      c.name = member(d);
      job.rank(0).comms.push_back(c);
    }
    job.does(0, group(0));
    for (int d = 0; d < 4; ++d) {
      for (const CallSpec& spec : {send((d + 1) % 4), recv((d + 3) % 4)}) {
        if (spec.op == RF_OP_SEND && d == without_send) continue;
        job.enqueues(0, pending(on(spec, member(d))));
        if (d == device_awaited) awaited.push_back(job.last_origin(0));
      }
    }
    job.does(0, group(1)).host_waits(0, awaited);
  }
};

TEST(NcclMessages, OneProcessWithSeveralDevicesHasAPlaceForEach) {
  for (int device = 0; device < 4; ++device) {
    Ring ring(device);
    const Findings found = diagnose(ring.job.wait(4s).build());
    EXPECT_EQ(finding_of(found, "order_deadlock"), nullptr) << "awaited: the stream of device " << device;
  }
}

// In a first round the rule cannot tell what a device leaves out (rules/missing_call.cc needs earlier
// rounds): the finding says that the process waits for itself.
TEST(NcclMessages, WhatADeviceOfItsOwnProcessDidNotSendIsNoHealth) {
  const Findings found = diagnose(Ring(0, 3).job.wait(40s).build());
  EXPECT_FALSE(found.nothing_wrong()) << all_kinds(found);
  ASSERT_NE(finding_of(found, "order_deadlock"), nullptr) << all_kinds(found);
  EXPECT_THAT(finding_of(found, "order_deadlock")->text, HasSubstr("waits in recv"));
}

// NCCL connects two ranks at the end of the first group that has a message between them.
TEST(NcclMessages, InAGroupTheRankIsHeldInItsEnd) {
  TimelineBuilder job = job_of_two();
  job.does(0, group(0)).enqueues(0, pending(send(1))).enqueues(0, pending(recv(1))).blocked(0, group(1));
  const Findings found = diagnose(job.exits(1).build());
  const Finding* f = finding_of(found, "missing_call");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  bool proven = false;
  for (const Finding& one : found.all) proven = proven || one.confidence == Confidence::kProven;
  EXPECT_TRUE(proven) << "of the receive";
}

TEST(NcclMessages, OfAGroupThatIsStillOpenNobodyIsMissed) {
  TimelineBuilder job = job_of_two();
  job.does(0, group(0)).enqueues(0, pending(recv(1)));
  const Findings found = diagnose(job.wait(1min).build());
  EXPECT_EQ(finding_of(found, "slow_rank"), nullptr) << all_kinds(found);
}

// "Not ready" is not a failure. An answer of a device inside another call is reported by that call.
TEST(NcclDevice, WhatADeviceAnsweredIsNotWhyARankGaveUp) {
  TimelineBuilder job = job_of_two();
  CallSpec query;
  query.op = RF_OP_DEVICE_QUERY;
  job.fails(1, query, 600).exits(1, 3);
  const Findings found = diagnose(job.build());
  const Finding* f = finding_of(found, "exited_rank");
  ASSERT_NE(f, nullptr) << all_kinds(found);
  EXPECT_EQ(f->text, "rank 1 exited with 3");
}

// NCCL builds an all-to-all from sends and receives: one of them may match the receive.
TEST(NcclMessages, NothingIsSaidBesideACollectiveThatIsMadeOfThem) {
  TimelineBuilder job = job_of_two();
  CallSpec all = all_reduce();
  all.op = RF_OP_ALL_TO_ALL;
  job.enqueues(1, pending(all));
  waits_for(job, 0, recv(1));
  const Findings found = diagnose(job.exits(1).build());
  EXPECT_EQ(finding_of(found, "missing_call"), nullptr) << all_kinds(found);
}

// A graph sends once for each launch, and the record does not count launches.
TEST(NcclMessages, NothingIsSaidWhereMessagesMayBeUnseen) {
  for (const int rank : {0, 1}) {
    TimelineBuilder job = job_of_two();
    job.rank(rank).opaque |= RF_OPAQUE_COMMUNICATION;
    waits_for(job, 0, recv(1));
    const Findings found = diagnose(job.exits(1).wait(1min).build());
    EXPECT_EQ(finding_of(found, "missing_call"), nullptr) << all_kinds(found);
  }
}

}  // namespace
}  // namespace rankfault::testing
