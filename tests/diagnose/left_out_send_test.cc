// left_out_send_test: a message that one round of a loop lacks names the rank that left it out, and the line.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;

CallSpec send_at(int to, uint64_t site) {
  CallSpec spec = send(to);
  spec.site = site;
  return spec;
}

// A pipeline of ranks 0, 1, 2: each round has a message from each rank to the next one.
class LeftOutSend : public ::testing::Test {
 protected:
  // A round of rank 1. Its send to rank 2 is left out, or made twice.
  void round(size_t sends_of_1 = 1) {
    job.does(0, send_at(1, 0x10)).does(1, recv(0));
    for (size_t i = 0; i < sends_of_1; ++i) job.does(1, send_at(2, 0x11)).does(2, recv(1));
  }
  // Ranks 0 and 1 wait in a barrier for rank 2, which waits for a message of rank 1.
  void hang() {
    job.blocked(0, barrier()).blocked(1, barrier()).blocked(2, recv(1));
    job.wait(1s);
  }
  Findings found() { return diagnose(job.build()); }
  const Finding* missing() {
    last = found();
    return finding_of(last, "missing_call");
  }

  TimelineBuilder job{3, RF_LIB_C10D};
  Findings last;
};

TEST_F(LeftOutSend, NamesTheRankAndTheLineOfTheOtherRounds) {
  for (const size_t sends : {1u, 1u, 1u, 0u, 1u}) round(sends);
  job.does(0, send_at(1, 0x10)).does(1, recv(0)).does(1, send_at(2, 0x11)).does(2, recv(1));
  hang();
  const Finding* f = missing();
  ASSERT_NE(f, nullptr) << all_kinds(last);
  EXPECT_EQ(f->ranks, std::vector<int>{1});
  EXPECT_EQ(f->confidence, Confidence::kInferred);
  EXPECT_EQ(f->call_site, "prog+0x11");
  EXPECT_THAT(f->text, HasSubstr("rank 1 left out send to rank 2 tag 0 on world before recv from rank 0"));
  EXPECT_EQ(last.all.front().kind, "missing_call") << "it is the cause, and the deadlock its effect";
  ASSERT_NE(finding_of(last, "order_deadlock"), nullptr);
  EXPECT_EQ(finding_of(last, "order_deadlock")->caused_by, 0);
}

// The receiver asks for one message too many: no round of the sender lacks one.
TEST_F(LeftOutSend, IsSilentWhereTheReceiverAsksForTooMany) {
  for (int i = 0; i < 6; ++i) round();
  hang();
  EXPECT_EQ(missing(), nullptr) << missing()->text;
  EXPECT_NE(finding_of(last, "order_deadlock"), nullptr);
}

// The program sends in some rounds only.
TEST_F(LeftOutSend, IsSilentWhereSeveralRoundsLackOne) {
  for (const std::vector<size_t>& sends : {std::vector<size_t>{1, 1, 0, 1, 0, 1}, {1, 0, 1, 1, 0, 1}}) {
    job = TimelineBuilder(3, RF_LIB_C10D);
    for (const size_t n : sends) round(n);
    hang();
    EXPECT_EQ(missing(), nullptr) << missing()->text;
  }
}

TEST_F(LeftOutSend, IsSilentWhereNoTwoRoundsCameBefore) {
  for (const size_t sends : {1u, 0u, 1u, 1u}) round(sends);
  hang();
  EXPECT_EQ(missing(), nullptr) << missing()->text;
}

// The last round is not over: the send may stand behind the barrier.
TEST_F(LeftOutSend, IsSilentAboutTheRoundThatIsNotOver) {
  for (int i = 0; i < 5; ++i) round();
  round(0);
  hang();
  EXPECT_EQ(missing(), nullptr) << missing()->text;
}

TEST_F(LeftOutSend, IsSilentWhileTheJobGoesOn) {
  for (const size_t sends : {1u, 1u, 1u, 0u, 1u}) round(sends);
  job.blocked(2, recv(1)).wait(1s);
  EXPECT_EQ(missing(), nullptr) << missing()->text;
}

}  // namespace
}  // namespace rankfault::testing
