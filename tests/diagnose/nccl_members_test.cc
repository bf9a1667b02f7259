// nccl_members_test: a process that holds several members of a communicator of NCCL, one for each of its
// devices.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;

// One process, four members. Each has its own communicator until the timeline is made.
class NcclMembers : public ::testing::Test {
 protected:
  NcclMembers() {
    for (int m = 0; m < 4; ++m) job.comm(name(m), {0});
    job.rank(0).coverage.push_back({RF_LIB_CUDA, RF_HOOK_PRELOAD, 0, "nccl", ""});
  }
  static std::string name(int member) { return "member" + std::to_string(member); }

  uint64_t enqueue(int member) {
    CallSpec spec = on(all_reduce(), name(member));
    spec.flags |= RF_CALL_NONBLOCKING;
    job.enqueues(0, spec);
    return job.last_origin(0);
  }
  void rounds(int count) {
    for (int i = 1; i <= count; ++i)
      for (int m = 0; m < 4; ++m) {
        const uint64_t origin = enqueue(m);
        job.completes(0, origin, name(m), static_cast<uint64_t>(i));
      }
  }
  Timeline timeline() {
    Timeline t = job.build();
    std::erase_if(t.processes[0].comms, [](const CommView& c) { return c.name == "world"; });
    for (CommView& c : t.processes[0].comms) {
      c.rank = c.name.back() - '0';
      c.id = 99;
      c.size = 4;
      c.members = {0, 0, 0, 0};
      c.name.clear();
    }
    return t;
  }

  TimelineBuilder job{1, RF_LIB_NCCL};
};

TEST_F(NcclMembers, TheOneThatLeftACallOutIsNamedAndNotADeadlock) {
  rounds(5);
  const uint64_t first = enqueue(0);
  enqueue(2), enqueue(3);
  job.host_waits(0, {first});
  const Findings found = diagnose(timeline());
  EXPECT_EQ(all_kinds(found), "missing_call");
  const Finding& f = found.all.front();
  EXPECT_EQ(f.confidence, Confidence::kInferred);
  EXPECT_EQ(f.ranks, std::vector<int>{0});
  EXPECT_EQ(f.seq->from, 6u);
  EXPECT_EQ(f.comm, "size 4 in rank 0");
  EXPECT_THAT(f.text, HasSubstr("member 1 of rank 0 left out all_reduce 6"));
}

TEST_F(NcclMembers, WhileItEnqueuesForItsDevicesOneByOneNothingIsMissing) {
  rounds(5);
  enqueue(0);
  EXPECT_TRUE(diagnose(timeline()).nothing_wrong());
  job.wait(1min);
  EXPECT_EQ(finding_of(diagnose(timeline()), "missing_call"), nullptr);
}

// Each device has its own thread: the other one may be late.
TEST_F(NcclMembers, AnotherThreadMayYetMakeTheCall) {
  rounds(5);
  const uint64_t first = enqueue(0);
  for (int m = 1; m < 4; ++m) job.comm_of(0, name(m)).issuers = 2;
  job.host_waits(0, {first});
  job.lane_of(0, 1).state.where = RF_OUTSIDE;
  EXPECT_EQ(finding_of(diagnose(timeline()), "missing_call"), nullptr);
}

TEST_F(NcclMembers, WhereAllHaveEnqueuedNothingIsMissing) {
  rounds(5);
  std::vector<uint64_t> origins;
  for (int m = 0; m < 4; ++m) origins.push_back(enqueue(m));
  job.host_waits(0, {origins[0]});
  EXPECT_EQ(finding_of(diagnose(timeline()), "missing_call"), nullptr);
  EXPECT_EQ(finding_of(diagnose(timeline()), "order_deadlock"), nullptr);
}

}  // namespace
}  // namespace rankfault::testing
