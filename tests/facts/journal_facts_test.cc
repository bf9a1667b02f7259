// journal_facts_test: the facts that the lines of a journal become.
#include "harness/facts/journal_facts.h"

#include <gmock/gmock.h>

#include "harness/facts/marks.h"
#include "tests/support/journal_lines.h"

namespace rankfault::test {
namespace {

constexpr const char* kVictim = "00000000000000ab.402.17.99.0";

RunFacts folded(std::vector<Json> lines) {
  RunFacts facts;
  uint64_t n = 0;
  for (Json& line : lines) {
    line["n"] = ++n;
    if (!line.contains("t")) line["t"] = n * 100;
    push_line(facts.journal, line);
  }
  fold_journal(facts);
  return facts;
}

TEST(ProcessFromStem, ReadsWhatFilesAreCalled) {
  const auto id = process_id_from(kVictim);
  ASSERT_TRUE(id);
  EXPECT_EQ(id->host, 0xabu);
  EXPECT_EQ(id->pid, 17);
  EXPECT_EQ(id->start, 99u);
  EXPECT_FALSE(process_id_from("17.99"));
}

TEST(JournalFacts, AFiringIsOneGateWithAllItsLines) {
  const Json who = {{"fault", "kill"}, {"action", 0}, {"process", kVictim}, {"rank", 2}, {"attempt", 0}};
  const auto with = [&](Json more) {
    Json line = who;
    line.update(more);
    return line;
  };
  const RunFacts facts =
      folded({with({{"ev", "fault_asked"}, {"op", "all_reduce"}, {"seq", 3}, {"step", 7}}),
              with({{"ev", "fault_intent"}, {"what", "SIGKILL"}}),
              with({{"ev", "fault_done"}, {"effect", "done"}, {"time", 250}, {"parked_ns", 9}}),
              with({{"ev", "fault_effect"}, {"what", "ended"}})});
  ASSERT_EQ(facts.gates.size(), 1u);
  const GateEvent& gate = facts.gates[0];
  EXPECT_EQ(gate.rank, 2);
  EXPECT_EQ(gate.seq, 3u);
  EXPECT_EQ(gate.step, 7);
  EXPECT_EQ(gate.done, instant_of(250));
  EXPECT_EQ(gate.parked, 9ns);
  EXPECT_EQ(gate.effect, "done");
  EXPECT_THAT(gate.lines, testing::ElementsAre(1, 2, 3, 4));
}

TEST(JournalFacts, WhatIsDoneBelongsToTheFirstFiringThatIsNot) {
  const auto line = [](const char* ev, Json more) {
    Json whole = {{"ev", ev}, {"action", 0}, {"fault", "f"}, {"process", kVictim}};
    whole.update(more);
    return whole;
  };
  const RunFacts facts =
      folded({line("fault_asked", Json::object()), line("fault_answered", {{"answer", "go"}}),
              line("fault_asked", Json::object()), line("fault_answered", {{"answer", "go"}}),
              line("fault_done", {{"effect", "done"}, {"time", 250}}),
              line("fault_done", {{"effect", "done"}, {"time", 480}}),
              line("fault_done", {{"effect", "done"}, {"time", 490}})});
  ASSERT_EQ(facts.gates.size(), 2u);
  EXPECT_EQ(facts.gates[0].done, instant_of(250));
  EXPECT_EQ(facts.gates[1].done, instant_of(490)) << "told again of the newest";
}

TEST(JournalFacts, AnAnswerOfNoGoIsNoFiring) {
  const RunFacts facts = folded(
      {{{"ev", "fault_asked"}, {"action", 0}, {"fault", "f"}, {"process", kVictim}},
       {{"ev", "fault_answered"}, {"action", 0}, {"fault", "f"}, {"process", kVictim}, {"answer", "no_go"}}});
  ASSERT_EQ(facts.gates.size(), 1u);
  EXPECT_FALSE(is_known(facts.gates[0].done));
  EXPECT_EQ(facts.gates[0].answer, "no_go");
}

TEST(JournalFacts, ALaterLineOfAnEndKnowsItsStatus) {
  const Json end = {{"ev", "rank_end"}, {"process", kVictim}, {"rank", 2}, {"attempt", 0}, {"time", 50}};
  Json known = end;
  known.update({{"kind", "signal"}, {"value", 9}, {"source", "kernel"}});
  const RunFacts facts = folded({end, known});
  ASSERT_EQ(facts.ends.size(), 1u);
  EXPECT_EQ(facts.ends[0].status.kind, ExitStatus::Kind::kSignal);
  EXPECT_EQ(facts.ends[0].source, EndSource::kKernel);
  EXPECT_EQ(facts.ends[0].time, instant_of(50));
}

TEST(JournalFacts, ATeardownAfterTheEndIsNone) {
  EXPECT_FALSE(is_known(folded({{{"ev", "teardown"}, {"reason", "over"}}}).teardown));
  const RunFacts wall = folded({{{"ev", "teardown"}, {"reason", "wall"}}});
  EXPECT_EQ(wall.teardown, instant_of(100));
  EXPECT_EQ(wall.teardown_reason, "wall");
}

TEST(JournalFacts, LogMarkersBecomeMarksOfTheirStep) {
  const auto marker = [](const char* what, const char* text) {
    return Json{{"ev", "log_marker"}, {"rank", 1}, {"attempt", 0}, {"marker", what}, {"text", text}};
  };
  const RunFacts facts =
      folded({marker("step_begin", "4"), marker("value", "1.5"), marker("error", "timeout")});
  ASSERT_EQ(facts.marks.size(), 3u);
  EXPECT_EQ(facts.marks[1].number, 4);
  EXPECT_EQ(facts.marks[1].value, std::bit_cast<uint64_t>(1.5));
  EXPECT_EQ(facts.marks[2].what, "error_mark");
}

// A program that a rank executes claims the same rank. Its marks do not count as those of the rank.
TEST(Marks, AreThoseOfRanksAndNotOfTheirHelpers) {
  Timeline timeline;
  for (const bool helper : {false, true}) {
    ProcessView process;
    process.rank = 1;
    process.helper = helper;
    Event mark;
    mark.record.phase = RF_PHASE_EVENT;
    mark.record.library = RF_LIB_MARK;
    mark.record.op = RF_OP_STEP_COMMIT;
    mark.record.count = helper ? 7 : 3;
    process.history.push_back(mark);
    timeline.processes.push_back(process);
  }
  const std::vector<Mark> marks = marks_of(timeline);
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].number, 3);
}

}  // namespace
}  // namespace rankfault::test
