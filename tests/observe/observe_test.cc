// observe_test: rings read while they are written, after a kill, and again from a finished run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/base/process_tree.h"
#include "harness/diagnose/finding.h"
#include "harness/journal/journal_line.h"
#include "harness/observe/flight_memory.h"
#include "harness/observe/observer.h"
#include "harness/observe/proc.h"
#include "harness/observe/record_names.h"
#include "tests/observe/run_files.h"

namespace rankfault::testing {
namespace {

class Observe : public RunFiles {
 protected:
  RankEnd killed(int rank) {
    RankEnd end;
    end.process = process(rank);
    end.rank = rank;
    end.time = Instant(5ms);
    end.status = {ExitStatus::Kind::kSignal, 9};
    return end;
  }
  static void drain(FlightMemory& memory) {
    memory.drain(
        true, [](uint32_t, uint64_t) { return true; }, [](uint64_t) {});
  }
  static ProcessView shown(FlightMemory& memory, uint64_t calls = UINT64_MAX) {
    drain(memory);
    ProcessView view = memory.ring().view();
    memory.show(view, calls);
    return view;
  }
};

TEST_F(Observe, RefusesForeignShortAndOtherVersions) {
  std::ofstream(records_ + "/short.ring") << "x";
  EXPECT_THAT(RingReader::open(records_ + "/short.ring").error().message,
              ::testing::HasSubstr("not a flight record"));
  std::ofstream(records_ + "/foreign.ring") << std::string(RF_OFF_HISTORY, 'x');
  EXPECT_THAT(RingReader::open(records_ + "/foreign.ring").error().message,
              ::testing::HasSubstr("not a flight record"));
  auto w = ring(0);
  EXPECT_TRUE(RingReader::open(w->path()).ok());
  w->header().abi_version = RF_ABI_VERSION + 1;
  EXPECT_THAT(RingReader::open(w->path()).error().message, ::testing::HasSubstr("version"));
  EXPECT_FALSE(RingReader::open(records_ + "/none.ring").ok());
}

TEST_F(Observe, ReadsTheSlotTheSelectorNamesAndWhetherItsCallWasLeft) {
  auto w = ring(0);
  w->enter(0, RF_OP_BARRIER);
  w->lane(0).slot[1 - w->lane(0).selector].op = RF_OP_SEND;  // an unfinished write of the idle slot
  const auto reader = RingReader::open(w->path());
  const ProcessView v = (*reader)->view();
  ASSERT_FALSE(v.lanes.empty());
  EXPECT_EQ(v.lanes[0].state.op, RF_OP_BARRIER);
  EXPECT_TRUE(v.stable);
  EXPECT_EQ(v.comms.at(0).entered, 1u);
  EXPECT_EQ(v.comms.at(0).name, "world");
  EXPECT_EQ(v.lanes[0].state.where, RF_INSIDE);
  w->leave(0, 5);
  const rf_state left = (*reader)->view().lanes[0].state;
  EXPECT_TRUE(left.where == RF_OUTSIDE && left.last_result == 5 && left.since_ns > v.lanes[0].state.since_ns);
}

// The view keeps only those of the process's own threads in the record that live at the look.
TEST_F(Observe, AThreadThatHasEndedIsNoThreadOfItsOwn) {
  ProcessId self = process(0);
  self.pid = ::getpid();
  self.start = proc_stat(::getpid())->start;
  RingFileWriter writer(records_, self, 0, 2);
  const auto id = static_cast<uint32_t>(::gettid());
  writer.header().own_threads[0] = 4'000'000'000;  // no thread has this id
  writer.header().own_threads[1] = id;
  ProcessView view = (*RingReader::open(writer.path()))->view();
  EXPECT_THAT(view.own_threads, ::testing::ElementsAre(4'000'000'000, id));
  read_proc_states(view);
  EXPECT_THAT(view.own_threads, ::testing::ElementsAre(id));
  EXPECT_GE(view.threads, 1u);
}

TEST_F(Observe, SkipsTornRecordsAndTakesThemWhenTheyAreWhole) {
  auto w = ring(0);
  w->enter(0, RF_OP_ALL_REDUCE);
  rf_record& torn = w->claim(0);
  w->leave(0);
  FlightMemory memory(std::move(*RingReader::open(w->path())), records_);
  const ProcessView v = shown(memory);
  EXPECT_EQ(v.events()->size(), 2u);
  EXPECT_EQ(v.lanes[0].torn, std::vector<uint64_t>{1});
  EXPECT_EQ(v.history_lost, 0u);
  w->commit(0, torn);
  const ProcessView later = shown(memory);
  EXPECT_EQ(later.events()->size(), 3u);
  EXPECT_TRUE(later.lanes[0].torn.empty());
  EXPECT_EQ(v.events()->size(), 2u) << "a look stays as it was";
}

TEST_F(Observe, ARingThatWrapsLosesNothingThatWasDrained) {
  auto w = ring(0);
  FlightMemory memory(std::move(*RingReader::open(w->path())), records_);
  for (uint32_t i = 0; i < 3 * RF_LANE_RECORDS / 2; ++i) {
    w->enter(0, RF_OP_ALL_REDUCE);
    w->leave(0);
    if (i % 500 == 0) drain(memory);
  }
  const ProcessView live = shown(memory);
  EXPECT_EQ(live.events()->size(), 3u * RF_LANE_RECORDS);
  EXPECT_EQ(live.history_lost, 0u);
  EXPECT_EQ(memory.overwritten(), 0u);

  SeenFiles files;
  FlightMemory::save(live, records_, files);
  FlightMemory::save(live, records_, files);
  EXPECT_EQ(files.bytes(), 3u * RF_LANE_RECORDS * sizeof(rf_record)) << "each record once";
  journal({});
  const auto replay = final_timeline(run_);
  ASSERT_TRUE(replay.ok()) << replay.error().message;
  EXPECT_EQ(replay->processes.at(0).history.size(), 3u * RF_LANE_RECORDS);
  EXPECT_EQ(replay->processes.at(0).history_lost, 0u);
}

TEST_F(Observe, SaysHowMuchWasOverwrittenUnread) {
  auto w = ring(0);
  for (uint32_t i = 0; i < RF_LANE_RECORDS; ++i) {
    w->enter(0, RF_OP_ALL_REDUCE);
    w->leave(0);
  }
  FlightMemory memory(std::move(*RingReader::open(w->path())), records_);
  const ProcessView v = shown(memory);
  EXPECT_EQ(v.events()->size(), RF_LANE_RECORDS);
  EXPECT_EQ(v.history_lost, RF_LANE_RECORDS);
  EXPECT_EQ(v.marks_lost, RF_LANE_RECORDS) << "nobody knows what they were";
  EXPECT_EQ(memory.overwritten(), RF_LANE_RECORDS);
}

// The sum of the communicator still counts calls whose records are lost, also in the journal line of a look.
TEST_F(Observe, TheSumOfCallsOutlivesTheirRecords) {
  auto w = ring(0);
  uint64_t lost = 0;
  for (uint32_t i = 1; i <= RF_LANE_RECORDS; ++i) {
    w->enter(0, i % 3 ? RF_OP_ALL_REDUCE : RF_OP_BARRIER);
    w->leave(0);
    if (i <= RF_LANE_RECORDS / 2)
      lost += rf_call_word(i, i % 3 ? RF_OP_ALL_REDUCE : RF_OP_BARRIER, RF_PEER_NONE, 0);
  }
  FlightMemory memory(std::move(*RingReader::open(w->path())), records_);
  Timeline t;
  t.processes.push_back(shown(memory));
  const Result<Timeline> again = state_from_json(state_to_json(t));
  ASSERT_TRUE(again.ok());
  const std::vector<Event> events = *t.processes[0].events();
  for (const Event& e : events)
    if (e.record.phase == RF_PHASE_ENTER)
      lost += rf_call_word(e.record.seq, e.record.op, e.record.peer, e.record.flags);
  EXPECT_EQ(again->processes.at(0).comms.at(0).calls, lost);
}

// A rank that left an elastic job is not expected in its next attempt.
TEST_F(Observe, ALaterAttemptHasAsManyRanksAsItSays) {
  auto first = ring(0), lost = ring(1);
  const auto observer = make_observer({records_}, Instant(1ns));
  observer->set_expected({{0, 0, false}, {1, 0, false}}, 2, 0);
  observer->scan();
  EXPECT_EQ(observer->look(false).expected.size(), 2u);
  RingFileWriter again(records_, process(2), 0, 1);
  again.header().attempt = 1;
  observer->scan();
  observer->set_expected({{0, 1, false}, {1, 1, false}}, 2, 1);
  const Timeline t = observer->look(false);
  EXPECT_EQ(t.world_size, 1);
  ASSERT_EQ(t.expected.size(), 1u);
  EXPECT_EQ(t.expected[0].rank, 0);
  again.header().world_size = -1;  // not set: as many as before
  EXPECT_EQ(observer->look(false).world_size, 2);
}

// The records of calls on a freed communicator hold its number, not its entry.
TEST_F(Observe, CallsOnAFreedCommunicatorAreNotOnTheOneThatHasItsEntry) {
  auto w = ring(0);
  w->enter(0, RF_OP_ALL_REDUCE);
  w->leave(0);
  const auto observer = make_observer({records_}, Instant(1ns));
  observer->scan();
  rf_comm& c = w->comm(0);
  c.state = RF_COMM_FILLING;
  EXPECT_TRUE(observer->look(false).processes.at(0).comms.empty());
  c.number += RF_MAX_COMMS;
  c.id = 1234;
  c.entered = c.completed = 0;
  c.state = RF_COMM_LIVE;
  const Timeline t = observer->look(false);
  const ProcessView& p = t.processes.at(0);
  ASSERT_EQ(p.comms.size(), 1u);
  EXPECT_EQ(p.comms[0].index, RF_MAX_COMMS);
  EXPECT_EQ(p.comms[0].id, 1234u);
  const std::vector<Event> events = *p.events();
  EXPECT_EQ(events.size(), 2u);
  for (const Event& e : events) EXPECT_EQ(p.comm(e.record.comm), nullptr);
  c.number += 1;  // fits no entry: the agent never writes this
  EXPECT_TRUE(observer->look(false).processes.at(0).comms.empty());
}

TEST_F(Observe, ALookIsInconsistentWhenSomethingMovesUnderIt) {
  auto w = ring(0);
  auto observer = make_observer({records_}, Instant(1ns));
  EXPECT_EQ(observer->scan().size(), 1u);
  EXPECT_TRUE(observer->scan().empty());
  EXPECT_TRUE(observer->look(false).consistent);
  const uint64_t before = observer->activity();
  w->enter(0, RF_OP_ALL_REDUCE);
  EXPECT_NE(observer->activity(), before);
  ASSERT_NE(observer->process(process(0)), nullptr);
  EXPECT_EQ(observer->process(process(0))->rank, 0);

  // A writer at full speed: a look that sees it move says so, and never shows a half-written state.
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) {
      w->leave(0);
      w->enter(0, RF_OP_ALL_REDUCE);
    }
  }
  bool moved = false;
  for (int i = 0; i < 100'000 && !moved; ++i) {
    const Timeline t = observer->look(false);
    ASSERT_EQ(t.processes.size(), 1u);
    moved = !t.consistent;
    EXPECT_EQ(t.processes[0].stable, t.consistent);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(moved);
}

TEST_F(Observe, AKilledWriterLeavesAWholeState) {
  for (int round = 0; round < 20; ++round) {
    const ProcessId id{7, 8, 910'000'000 + round, 11, 0};
    RingFileWriter w(records_, id, 0, 1);
    w.add_comm(5, "world", 1, 0);
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) {
        w.enter(0, RF_OP_ALL_REDUCE);
        w.leave(0);
      }
    }
    const auto reader = RingReader::open(w.path());
    while ((*reader)->view().comms.at(0).entered < 1000u * static_cast<unsigned>(round + 1)) {
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    FlightMemory memory(std::move(*RingReader::open(w.path())), records_);
    const ProcessView v = shown(memory);
    EXPECT_TRUE(v.stable);
    EXPECT_LE(v.lanes.at(0).torn.size(), 1u);
  }
}

TEST_F(Observe, AReplayOfALookGivesTheFindingsOfTheLiveOne) {
  auto a = ring(0), b = ring(1);
  for (auto* w : {a.get(), b.get()}) {
    w->enter(0, RF_OP_ALL_REDUCE);
    w->leave(0);
  }
  a->enter(0, RF_OP_ALL_REDUCE);
  auto observer = make_observer({records_}, Instant(1ns));
  observer->set_expected({{0, 0, true}, {1, 0, true}}, 2, 0);
  observer->scan();
  observer->set_end(killed(1));
  const Timeline live = canonical(observer->look(false));
  const Findings found = diagnose(live);
  ASSERT_EQ(found.all.front().kind, "dead_rank");
  EXPECT_EQ(found.all.front().confidence, Confidence::kProven);
  events::Look look;
  look.state = Json::parse(state_to_json(live).dump());
  a->leave(0, 5);  // the rest of the run
  for (int i = 0; i < 50; ++i) a->enter(1, RF_OP_BARRIER);

  const auto replay = timeline_from_run(run_, look);
  ASSERT_TRUE(replay.ok()) << replay.error().message;
  EXPECT_EQ(state_to_json(*replay).dump(), state_to_json(live).dump());
  EXPECT_EQ(to_json(diagnose(*replay)).dump(), to_json(found).dump());
}

// More records than are held open, and enough for several threads. Read twice: the second look finds some
// open.
TEST_F(Observe, AReplayOfManyRecordsIsThatOfEach) {
  constexpr int kRanks = 300;
  auto observer = make_observer({records_}, Instant(1ns));
  for (int r = 0; r < kRanks; ++r) {
    RingFileWriter w(records_, process(r), r, kRanks, 1);
    w.add_comm(99, "world", kRanks, r);
    w.enter(0, RF_OP_ALL_REDUCE);
    w.leave(0);
    if (r != 7) w.enter(0, RF_OP_ALL_REDUCE);
  }
  observer->set_expected({}, kRanks, 0);
  observer->scan();
  observer->set_end(killed(7));
  const Timeline live = canonical(observer->look(false));
  events::Look line;
  line.state = state_to_json(live);
  const std::string found = to_json(diagnose(live)).dump();
  EXPECT_THAT(found, ::testing::HasSubstr("proven"));
  RunRecords records(run_);
  for (const int look : {1, 2}) {
    const auto again = records.at_look(line);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(to_json(diagnose(*again)).dump(), found) << look;
    EXPECT_EQ(records.unread().size(), 0u);
  }
  journal({{{"n", 1}, {"ev", "run_begin"}, {"t", 1}, {"world_size", kRanks}}});
  const auto end = final_timeline(run_, Histories::kInFiles);
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->processes.size(), 300u);

  for (const int gone : {200, 90})
    std::filesystem::remove(records_ + "/" + process(gone).to_string() + ".ring");
  RunRecords rest(run_);
  for (const int look : {1, 2}) {
    const auto again = rest.at_look(line);
    ASSERT_TRUE(again.ok());
    ASSERT_EQ(rest.unread().size(), 2u) << look;
    EXPECT_THAT(rest.unread()[0], ::testing::HasSubstr(process(90).to_string()));
    EXPECT_THAT(rest.unread()[1], ::testing::HasSubstr(process(200).to_string()));
    EXPECT_NE(again->rank(0, 90)->partial, 0u);
    EXPECT_EQ(again->rank(0, 91)->partial, 0u);
  }
}

}  // namespace
}  // namespace rankfault::testing
