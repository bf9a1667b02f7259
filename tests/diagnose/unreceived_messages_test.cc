// unreceived_messages_test: messages that no rank received, in a job that did not hang because of them.
#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {
namespace {

TEST(UnreceivedMessages, AMessageThatWasNeverAskedForIsAMissingReceive) {
  TimelineBuilder job(3, RF_LIB_MPI);
  job.does(0, send(1, 5)).does(0, send(1, 5)).does(1, recv(0, 5));
  for (const int r : {0, 1, 2}) job.finalized(r).exits(r);
  const Findings found = diagnose(job.build());
  ASSERT_EQ(all_kinds(found), "missing_call");
  const Finding& f = found.all.front();
  EXPECT_EQ(f.op, "recv");
  EXPECT_TRUE(f.ranks.empty());
  EXPECT_EQ(f.sides.size(), 2u);
  EXPECT_EQ(f.confidence, Confidence::kInferred);
  EXPECT_NE(f.text.find("sent 2 messages with tag 5 to rank 1 on world, which asked for 1"),
            std::string::npos)
      << f.text;
}

TEST(UnreceivedMessages, IsSilentWhileTheReceiverMayStillAsk) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.does(0, send(1)).finalized(0);
  EXPECT_TRUE(diagnose(job.build()).nothing_wrong() || diagnose(job.build()).cannot_say());
}

TEST(UnreceivedMessages, IsSilentWhereAWildcardMayHaveTakenIt) {
  for (const CallSpec& taken : {recv(RF_PEER_ANY, 5), recv(0, -1), recv(RF_PEER_ANY, -1)}) {
    TimelineBuilder job(2, RF_LIB_MPI);
    job.does(0, send(1, 5)).does(1, taken);
    for (const int r : {0, 1}) job.finalized(r).exits(r);
    EXPECT_TRUE(diagnose(job.build()).nothing_wrong()) << all_kinds(diagnose(job.build()));
  }
}

// It is not known what the receiver took: a call that no decoder reads, lost records, a call that failed.
TEST(UnreceivedMessages, IsSilentWhereTheReceiverIsNotFullyInView) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.does(0, send(1));
  for (const int r : {0, 1}) job.finalized(r).exits(r);
  EXPECT_FALSE(diagnose(job.build()).nothing_wrong());
  TimelineBuilder opaque = job, lost = job;
  opaque.rank(1).opaque = RF_OPAQUE_COMMUNICATION;
  lost.rank(1).history_lost = 1;
  for (TimelineBuilder* unseen : {&opaque, &lost})
    EXPECT_EQ(finding_of(diagnose(unseen->build()), "missing_call"), nullptr);
  TimelineBuilder failed(2, RF_LIB_MPI);
  failed.does(0, send(1)).fails(1, recv(0));
  for (const int r : {0, 1}) failed.finalized(r).exits(r);
  EXPECT_EQ(finding_of(diagnose(failed.build()), "missing_call"), nullptr);
}

}  // namespace
}  // namespace rankfault::testing
