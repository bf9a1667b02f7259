// type_remark_test: pairs of types that the standard forbids and that move the same bytes.
#include "tests/diagnose/finding_of.h"
#include "tests/support/journal_lines.h"

namespace rankfault::testing {
namespace {

CallSpec as(CallSpec spec, uint8_t dtype, uint64_t count) {
  spec.dtype = dtype;
  spec.count = count;
  return spec;
}

Findings over(TimelineBuilder& job, int ranks) {
  for (int r = 0; r < ranks; ++r) job.finalized(r).exits(r);
  return diagnose(job.build());
}

TEST(TypeRemark, ABroadcastOfCharsThatOthersTakeAsBytes) {
  TimelineBuilder job(3, RF_LIB_MPI);
  for (int r = 0; r < 3; ++r) job.does(r, as(broadcast(0), r == 0 ? RF_DTYPE_INT8 : RF_DTYPE_BYTE, 8), 2);
  const Findings found = over(job, 3);
  EXPECT_TRUE(found.nothing_wrong()) << all_kinds(found);
  ASSERT_EQ(found.remarks.size(), 1u);
  const Finding& f = found.remarks.front();
  EXPECT_EQ(f.kind, "type_remark");
  EXPECT_EQ(f.confidence, Confidence::kRemark);
  EXPECT_TRUE(f.ranks.empty());
  EXPECT_EQ(
      f.text,
      "rank 1 receives another type than rank 0 sends, the first of 4 such pairs on world; MPI forbids this "
      "(MPI 4.1, 6.1), and the library moved the same bytes");
  EXPECT_EQ(f.sides.size(), 2u);
}

TEST(TypeRemark, AGatherWhoseRootTakesBytes) {
  TimelineBuilder job(2, RF_LIB_MPI);
  for (int r = 0; r < 2; ++r) {
    CallSpec spec = as(broadcast(1), RF_DTYPE_INT8, 8);
    spec.op = RF_OP_GATHER;
    if (r == 1) spec.tag = int{RF_DTYPE_BYTE} | int{RF_TAKEN_KNOWN};
    job.does(r, spec);
  }
  const Findings found = over(job, 2);
  EXPECT_TRUE(found.nothing_wrong()) << all_kinds(found);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_THAT(found.remarks.front().text,
              ::testing::StartsWith("rank 1 receives another type than rank 0 sends; "));
}

TEST(TypeRemark, AMessageOfCharsThatIsReceivedAsBytes) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.does(0, send(1)).does(0, as(send(1), RF_DTYPE_INT8, 16));
  job.does(1, recv(0)).does(1, as(recv(0), RF_DTYPE_BYTE, 16));
  const Findings found = over(job, 2);
  EXPECT_TRUE(found.nothing_wrong()) << all_kinds(found);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_EQ(
      found.remarks.front().text,
      "rank 1 receives another type than rank 0 sends; MPI forbids this (MPI 4.1, 3.3.1), and the library "
      "moved the same bytes");
}

TEST(TypeRemark, NothingIsSaidOfEqualTypesOrBeforeTheJobIsOver) {
  TimelineBuilder equal(2, RF_LIB_MPI);
  equal.everyone(broadcast(0)).does(0, send(1)).does(1, recv(0));
  EXPECT_TRUE(over(equal, 2).remarks.empty());

  TimelineBuilder running(2, RF_LIB_MPI);
  running.does(0, as(broadcast(0), RF_DTYPE_INT8, 8)).does(1, as(broadcast(0), RF_DTYPE_BYTE, 8));
  EXPECT_TRUE(diagnose(running.build()).remarks.empty());
  EXPECT_EQ(over(running, 2).remarks.size(), 1u);
}

// The record does not show which receive took which message.
TEST(TypeRemark, NothingIsSaidWhereTheRecordDoesNotTellWhatMet) {
  TimelineBuilder wildcard(2, RF_LIB_MPI);
  wildcard.does(0, as(send(1), RF_DTYPE_INT8, 16)).does(0, as(send(1), RF_DTYPE_BYTE, 16));
  wildcard.does(1, as(recv(RF_PEER_ANY), RF_DTYPE_BYTE, 16)).does(1, as(recv(0), RF_DTYPE_INT8, 16));
  EXPECT_TRUE(over(wildcard, 2).remarks.empty());

  TimelineBuilder lost(2, RF_LIB_MPI);
  lost.does(0, as(send(1), RF_DTYPE_INT8, 16)).does(1, as(recv(0), RF_DTYPE_BYTE, 16));
  lost.rank(0).history_lost = 1;
  EXPECT_TRUE(over(lost, 2).remarks.empty());
}

// Data would differ: this is a finding, not a remark.
TEST(TypeRemark, AnIntThatIsTakenAsAFloatIsAMismatch) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.does(0, as(broadcast(0), RF_DTYPE_INT32, 8)).does(1, as(broadcast(0), RF_DTYPE_FLOAT32, 8));
  const Findings found = over(job, 2);
  EXPECT_EQ(all_kinds(found), "call_mismatch");
  EXPECT_TRUE(found.remarks.empty());
}

TEST(TypeRemark, ComesBackFromTheJournal) {
  TimelineBuilder job(2, RF_LIB_MPI);
  job.does(0, as(broadcast(0), RF_DTYPE_INT8, 8)).does(1, as(broadcast(0), RF_DTYPE_BYTE, 8));
  const Findings found = over(job, 2);
  ASSERT_EQ(found.remarks.size(), 1u);
  const Findings again =
      findings_from_journal({line_from({{"ev", "remark"}, {"finding", to_json(found.remarks.front())}})});
  ASSERT_EQ(again.remarks.size(), 1u);
  EXPECT_EQ(to_json(again.remarks.front()), to_json(found.remarks.front()));
}

}  // namespace
}  // namespace rankfault::testing
