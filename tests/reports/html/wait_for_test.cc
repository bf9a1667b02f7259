// wait_for_test: the graph of a finding: who waits for whom, by the records, and what is a cycle or a sink.
#include "reports/html/wait_for.h"

#include <gmock/gmock.h>

#include "reports/html/packed.h"
#include "tests/reports/html/page_runs.h"
#include "tests/support/timeline_builder.h"

namespace rankfault::test {
namespace {

using rankfault::testing::all_reduce;
using rankfault::testing::barrier;
using rankfault::testing::on;
using rankfault::testing::recv;
using rankfault::testing::TimelineBuilder;

// "0 1>2 sink": each edge between groups of ranks, with what is marked of the second group.
std::string edges_of(const Json& graph) {
  std::string out;
  const auto ranks = [&](const Json& number) {
    std::string text;
    for (const Json& rank : graph["groups"][number.get<size_t>()]["ranks"])
      text += (text.empty() ? "" : " ") + std::to_string(rank.get<int>());
    return text;
  };
  std::vector<std::string> edges;
  for (const Json& edge : graph["edges"]) {
    const Json& to = graph["groups"][edge["to"].get<size_t>()];
    edges.push_back(ranks(edge["from"]) + ">" + ranks(edge["to"]) +
                    (to["cycle"].get<bool>() ? " cycle" : "") + (to["sink"].get<bool>() ? " sink" : "") +
                    (to["blamed"].get<bool>() ? " blamed" : ""));
  }
  std::sort(edges.begin(), edges.end());
  for (const std::string& edge : edges) out += (out.empty() ? "" : ", ") + edge;
  return out;
}

Json graph_of(const TimelineBuilder& job, const Finding& finding) {
  RunFacts facts;
  facts.timeline = job.build();
  facts.begin = Instant{1s};
  facts.end = facts.timeline.look;
  return html::wait_for_graph(facts, finding, {});
}

TEST(WaitFor, TheRankThatDidNotComeIsTheSink) {
  TimelineBuilder job(4);
  job.everyone(all_reduce(), 2);
  for (const int rank : {0, 1, 3}) job.blocked(rank, all_reduce());
  EXPECT_EQ(edges_of(graph_of(job, finding("slow_rank", {2}))), "0 1 3>2 sink blamed");
}

TEST(WaitFor, DifferentCallsAtOnePlaceWaitForEachOther) {
  TimelineBuilder job(3);
  job.everyone(all_reduce());
  job.blocked(0, all_reduce()).blocked(1, all_reduce()).blocked(2, barrier());
  EXPECT_EQ(edges_of(graph_of(job, finding("call_mismatch", {2}))), "0 1>2 cycle blamed, 2>0 1 cycle");
}

TEST(WaitFor, ReceivesInARingAreACycle) {
  TimelineBuilder job(3);
  job.blocked(0, recv(1)).blocked(1, recv(2)).blocked(2, recv(0));
  EXPECT_EQ(edges_of(graph_of(job, finding("order_deadlock", {}))), "0>1 cycle, 1>2 cycle, 2>0 cycle");
}

TEST(WaitFor, TwoCommunicatorsInAnotherOrderAreACycle) {
  TimelineBuilder job(2);
  job.comm("a", {0, 1}).comm("b", {0, 1});
  job.blocked(0, on(all_reduce(), "a")).blocked(1, on(all_reduce(), "b"));
  EXPECT_EQ(edges_of(graph_of(job, finding("order_deadlock", {}))), "0>1 cycle, 1>0 cycle");
}

TEST(WaitFor, ARankThatWaitsForACycleIsNotInIt) {
  TimelineBuilder job(4);
  job.blocked(0, recv(1)).blocked(1, recv(0)).blocked(2, recv(0));
  EXPECT_EQ(edges_of(graph_of(job, finding("order_deadlock", {}))), "0>1 cycle, 1>0 cycle, 2>0 cycle");
  const Json graph = graph_of(job, finding("order_deadlock", {}));
  for (const Json& group : graph["groups"])
    EXPECT_EQ(group["cycle"].get<bool>(), group["ranks"][0].get<int>() < 2) << group;
}

// Of two ranks in one state, only the one that is waited for.
TEST(WaitFor, ARankBesideTheOneThatIsNeededIsNoPartOfIt) {
  TimelineBuilder job(4);
  job.blocked(0, recv(2));
  EXPECT_EQ(edges_of(graph_of(job, finding("missing_call", {}))), "0>2 sink");
}

// A call that was left by an error, at the time of the finding or before, had waited.
TEST(WaitFor, ACallThatGaveUpHadWaited) {
  TimelineBuilder job(2);
  job.everyone(all_reduce());
  job.killed(1).fails(0, all_reduce());
  const Json graph = graph_of(job, finding("dead_rank", {1}));
  EXPECT_EQ(edges_of(graph), "0>1 sink blamed");
  EXPECT_TRUE(graph["by_records"].get<bool>());
}

// The sides of the finding tell it where the records do not.
TEST(WaitFor, WithoutRecordsTheFindingsSidesWait) {
  TimelineBuilder job(3);
  Finding f = finding("slow_rank", {1});
  f.sides = {{{0, 2}, "barrier", "barrier on world, call 4", "a.cc:3"}};
  const Json graph = graph_of(job, f);
  EXPECT_EQ(edges_of(graph), "0 2>1 sink blamed");
  EXPECT_FALSE(graph["by_records"].get<bool>());
}

TEST(WaitFor, NoGraphWhereNoneWaits) {
  TimelineBuilder job(2);
  job.everyone(all_reduce(), 3);
  EXPECT_TRUE(graph_of(job, finding("exited_rank", {1})).is_null());
}

TEST(Packed, NumbersAreSevenBitsAByte) {
  html::Packed packed;
  packed.put(0);
  packed.put(127);
  packed.put(128);
  packed.put_signed(-1);
  packed.put_signed(1);
  EXPECT_EQ(packed.base64(), html::base64_of(std::string("\0\x7f\x80\x01\x01\x02", 6)));
  EXPECT_EQ(html::base64_of("a"), "YQ==");
  EXPECT_EQ(html::base64_of("ab"), "YWI=");
  EXPECT_EQ(html::base64_of("abc"), "YWJj");
}

}  // namespace
}  // namespace rankfault::test
