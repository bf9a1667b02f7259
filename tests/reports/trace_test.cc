// trace_test: the trace of a run against its baseline and against the rules of the format.
#include "reports/trace/trace_calls.h"
#include "tests/reports/runs.h"
#include "tests/reports/trace_rules.h"

namespace rankfault::test {
namespace {

Json checked(const std::string& text) {
  const Json trace = Json::parse(text, nullptr, false);
  EXPECT_FALSE(trace.is_discarded()) << text.substr(0, 2000);
  EXPECT_EQ(trace_mistake(trace), "");
  return trace;
}

size_t count_of(const Json& trace, const char* phase) {
  size_t count = 0;
  for (const Json& event : trace["traceEvents"]) count += event["ph"] == phase;
  return count;
}

TEST_F(Reports, TheTraceOfARun) {
  killed_.mark(0, "step_begin", 3, 20).inside(3, RF_OP_ALL_REDUCE, 60);
  killed_.facts().gates[0].asked = ms(90);
  killed_.facts().gates[0].answered = ms(95);
  const std::string text = written("trace", {report_of(killed_, "scenarios/crash/kill.yaml", "kill")});
  checked(text);
  expect_approved("trace.json", text);
}

TEST_F(Reports, ATraceIsOfOneRunThatStarted) {
  EXPECT_EQ(written("trace", reports_), "refused: a trace is of one run: name one run directory");
  EXPECT_EQ(written("trace", {reports_[2]}), "refused: a run that did not start has no trace");
}

// A finding points to the calls that it claims, and to those of its sides at its place.
TEST_F(Reports, ATraceHasArrowsFromTheFindingToItsCalls) {
  Finding& dead = killed_.facts().findings.all[0];
  dead.at = ms(100);
  dead.claimed = {{0, 0, 1}};
  const Json trace = checked(written("trace", {reports_[0]}));
  EXPECT_EQ(count_of(trace, "s"), 1u);
  EXPECT_EQ(count_of(trace, "f"), 1u);
}

TEST(TraceOfWork, GoesOnWhileItsThreadDoesSomethingElse) {
  Facts facts(1);
  facts.call(0, RF_OP_ALL_REDUCE, 10, 11).call(0, RF_OP_BARRIER, 12, 13);
  std::vector<Event>& history = facts.process(0).history;
  history[1].record.phase = RF_PHASE_ENQUEUE;
  Event done = history[1];
  done.record.phase = RF_PHASE_COMPLETE;
  done.record.time_ns = ns_of(ms(20));
  history.push_back(done);
  const Json trace = checked(written("trace", {report_of(facts, "", "work")}));
  EXPECT_EQ(count_of(trace, "X"), 2u);
  EXPECT_EQ(count_of(trace, "b"), 1u);
  EXPECT_EQ(count_of(trace, "e"), 1u);
}

TEST(TraceLimit, TheNewestCallsOfEachLaneShareIt) {
  EXPECT_EQ(share_of_lanes({}, 100), 100u);
  EXPECT_EQ(share_of_lanes({10, 20}, 100), 100u);
  EXPECT_EQ(share_of_lanes({10, 1000, 1000}, 100), 45u);
  EXPECT_EQ(share_of_lanes(std::vector<size_t>(16'384, 10'000), 200'000), 12u);
}

TEST(TraceLimit, WhatIsLeftOutIsCounted) {
  Facts facts(2);
  for (int call = 0; call < 10; ++call) facts.call(0, RF_OP_BARRIER, call, call + 0.5);
  TraceWriter writer(kBegin);
  CallTracer tracer(facts.facts(), 4, writer);
  tracer.write(facts.process(0), 100);
  EXPECT_EQ(tracer.left_out(), 6u);
  const Json trace = Json::parse(writer.take({{"left_out", tracer.left_out()}}));
  EXPECT_EQ(trace_mistake(trace), "");
  EXPECT_EQ(count_of(trace, "X"), 4u);
}

TEST(TraceOfBadInput, FollowsTheRules) {
  Facts hostile, cut, none(0), large(1024);
  checked(written("trace", {hostile_report(hostile)}));
  const Json killed = checked(written("trace", {cut_report(cut)}));
  EXPECT_EQ(killed["otherData"]["journal_is_whole"], false);
  EXPECT_EQ(count_of(checked(written("trace", {report_of(none, "", "nothing")})), "X"), 0u);
  EXPECT_GT(count_of(checked(written("trace", {large_report(large)})), "X"), 11'000u);
}

// Records of a ring that was torn: a call without its end, and an end without its call.
TEST(TraceOfBadInput, CallsWithoutBeginAndEndOverlapNothing) {
  Facts facts(1);
  facts.inside(0, RF_OP_BARRIER, 10).call(0, RF_OP_BARRIER, 20, 30).call(0, RF_OP_BARRIER, 40, 50);
  std::vector<Event>& history = facts.process(0).history;
  history.erase(history.begin() + 3);  // the enter of the last call
  const Json trace = checked(written("trace", {report_of(facts, "", "torn")}));
  EXPECT_EQ(count_of(trace, "X"), 2u);
  EXPECT_EQ(trace["otherData"]["left_out"]["calls_without_begin"], 1);
}

}  // namespace
}  // namespace rankfault::test
