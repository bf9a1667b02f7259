// gloo_record_test: the records of plain Gloo programs, against what the programs print of their own calls.
#include <gmock/gmock.h>

#include "tests/backends/gloo/rank_job.h"

namespace rankfault::test {
namespace {

using testing::Each;
using testing::ElementsAre;

std::vector<const rf_comm*> comms_of(const FlightRecord& record) {
  std::vector<const rf_comm*> found;
  for (const rf_comm& comm : record.comms) found.push_back(&comm);
  return found;
}

TEST(GlooRecord, CountsEveryCollectiveAsTheProgramDoes) {
  const RankJobEnd end = run_ranks({.argv = {program("gloo_all_ops"), "--steps=3"}, .ranks = 4});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  for (int rank = 0; rank < 4; ++rank) {
    std::map<std::string, long> own = end.book.at(rank)["counts"];
    own["init"] = 1;
    EXPECT_EQ(end.records.at(rank).entered(RF_LIB_GLOO), own) << "rank " << rank;
    EXPECT_EQ(end.records.at(rank).header.opaque, 0u);
    EXPECT_EQ(end.records.at(rank).header.partial, 0u);
  }
}

TEST(GlooRecord, SaysWhichCallsHadWhichArguments) {
  const RankJobEnd end = run_ranks({.argv = {program("gloo_all_ops"), "--steps=1"}, .ranks = 3});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  for (const auto& [rank, record] : end.records) {
    const std::map<std::string, long> counts = {
        {"all_reduce", 2}, {"broadcast", 3}, {"reduce", 4},     {"all_gather", 5},  {"all_gatherv", rank},
        {"gather", 6},     {"scatter", 7},   {"all_to_all", 8}, {"all_to_allv", 3}, {"barrier", 0}};
    uint64_t seq = 0;
    for (const rf_record& r : record.records(RF_LIB_GLOO)) {
      if (r.phase != RF_PHASE_ENTER || r.op == RF_OP_INIT) continue;
      const std::string op = op_name(r.op);
      EXPECT_EQ(r.count, static_cast<uint64_t>(counts.at(op))) << op;
      EXPECT_EQ(r.seq, ++seq) << op;
      const bool rooted = op == "broadcast" || op == "reduce" || op == "gather" || op == "scatter";
      EXPECT_EQ(r.peer, rooted ? 2 : RF_PEER_NONE) << op;
      EXPECT_EQ(r.dtype, op == "barrier" ? RF_DTYPE_OTHER : RF_DTYPE_BYTES4) << op;
    }
  }
}

TEST(GlooRecord, TwoCommunicatorsAreKnownByTheSameIdOnTheirMembers) {
  const RankJobEnd end = run_ranks({.argv = {program("gloo_two_comms"), "--steps=4"}, .ranks = 5});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  std::map<uint64_t, std::vector<int>> members;
  for (const auto& [rank, record] : end.records) {
    const auto comms = comms_of(record);
    ASSERT_EQ(comms.size(), 2u);
    EXPECT_TRUE(comms[0]->flags & RF_COMM_WORLD);
    EXPECT_FALSE(comms[1]->flags & RF_COMM_WORLD);
    EXPECT_EQ(comms[0]->entered, 4u);
    EXPECT_EQ(comms[1]->completed, 8u);
    EXPECT_EQ(comms[1]->identity, RF_ID_EXCHANGED);
    for (const rf_comm* comm : comms) {
      members[comm->id].push_back(rank);
      EXPECT_EQ(record.members(*comm)[static_cast<size_t>(comm->rank)], rank);
    }
  }
  ASSERT_EQ(members.size(), 3u);
  for (const auto& [id, ranks] : members)
    EXPECT_THAT(ranks, testing::AnyOf(ElementsAre(0, 1, 2, 3, 4), ElementsAre(0, 2, 4), ElementsAre(1, 3)));
}

TEST(GlooRecord, ATagOfItsOwnIsAStreamOfItsOwn) {
  const RankJobEnd end = run_ranks({.argv = {program("gloo_uneven_batches"), "--steps=4"}, .ranks = 2});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  const auto comms = comms_of(end.records.at(0));
  ASSERT_EQ(comms.size(), 2u);
  EXPECT_EQ(comms[1]->parent, comms[0]->id);
  EXPECT_EQ(comms[1]->tag, 1u);
  EXPECT_EQ(comms[1]->entered, 1u);
  EXPECT_EQ(comms[0]->entered, 4u);
  EXPECT_EQ(comms[1]->id, end.records.at(1).comms[1].id);
  EXPECT_EQ(comms[1]->ordinal, comms[0]->ordinal);
}

TEST(GlooRecord, AnExceptionIsTheErrorOfItsCall) {
  const RankJobEnd end = run_ranks(
      {.argv = {program("gloo_kill_bug"), "--steps=6", "--rank=1", "--at=3", "--timeout=1s"}, .ranks = 3});
  EXPECT_THAT(end.status, ElementsAre(3, 128 + 9, 3));
  for (const int rank : {0, 2}) {
    const auto records = end.records.at(rank).records(RF_LIB_GLOO);
    EXPECT_EQ(records.back().phase, RF_PHASE_ERROR);
    EXPECT_EQ(records.back().tag_or_result, RF_RESULT_THROWN);
    EXPECT_EQ(records.back().seq, 3u);
    EXPECT_EQ(end.records.at(rank).comms[0].completed, 2u);
  }
  EXPECT_EQ(end.records.at(1).comms[0].entered, 2u);
}

TEST(GlooRecord, ASkippedCallLeavesNoTraceAndTheCallerGoesOn) {
  const RankJobEnd end = run_ranks({.argv = {program("gloo_all_reduce"), "--steps=6", "--timeout=1s"},
                                    .ranks = 3,
                                    .armed = {{.rank = 1, .verb = RF_VERB_SKIP, .nth = 4}}});
  EXPECT_EQ(end.status[1], 4) << "the sums of the skipping rank are wrong, it has no error";
  EXPECT_EQ(end.records.at(1).entered(RF_LIB_GLOO).at("all_reduce"), 5);
  EXPECT_EQ(end.records.at(1).comms[0].entered, 5u);
  EXPECT_EQ(end.records.at(0).comms[0].entered, 6u);
}

TEST(GlooRecord, AFailedCallThrowsWhatGlooThrows) {
  const RankJobEnd end = run_ranks({.argv = {program("gloo_all_reduce"), "--steps=4", "--timeout=1s"},
                                    .ranks = 2,
                                    .armed = {{.rank = 1, .verb = RF_VERB_FAIL, .nth = 2}}});
  EXPECT_EQ(end.status[1], 3) << end.out.at(1);
  EXPECT_THAT(end.out.at(1), testing::HasSubstr("injected"));
  EXPECT_EQ(end.records.at(1).records(RF_LIB_GLOO).back().phase, RF_PHASE_ERROR);
}

TEST(GlooRecord, AChangedCountIsTheCountOfTheRecord) {
  const RankJobEnd end =
      run_ranks({.argv = {program("gloo_all_reduce"), "--steps=3", "--count=64", "--timeout=1s"},
                 .ranks = 2,
                 .armed = {{.rank = 1, .verb = RF_VERB_ARG, .nth = 2, .arg0 = RF_ARG_COUNT, .arg1 = 32}}});
  const auto records = end.records.at(1).records(RF_LIB_GLOO);
  std::vector<uint64_t> counts;
  for (const rf_record& r : records)
    if (r.phase == RF_PHASE_ENTER && r.op == RF_OP_ALL_REDUCE) counts.push_back(r.count);
  ASSERT_GE(counts.size(), 2u);
  EXPECT_EQ(counts[1], 32u);
  EXPECT_NE(end.status[0], 0);
}

TEST(GlooRecord, TheProgramPrintsTheSameWithoutTheAgent) {
  const RankJob with{.argv = {program("gloo_all_ops")}, .ranks = 3};
  RankJob without = with;
  without.agent = false;
  EXPECT_EQ(run_ranks(with).out, run_ranks(without).out);
}

}  // namespace
}  // namespace rankfault::test
