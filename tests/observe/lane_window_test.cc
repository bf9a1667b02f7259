// lane_window_test: which records a window keeps, and which it releases.
#include "harness/observe/lane_window.h"

#include <gtest/gtest.h>

namespace rankfault::testing {
namespace {

class Lane {
 public:
  explicit Lane(uint64_t calls) : window(calls) {}
  void call() {
    ++seq;
    add(RF_PHASE_ENTER, RF_LIB_MPI);
    add(RF_PHASE_EXIT, RF_LIB_MPI);
    window.trim([this](uint32_t, uint64_t s) { return s <= completed; });
  }
  void mark() { add(RF_PHASE_EVENT, RF_LIB_MARK); }
  static uint64_t calls_in(const LaneWindow::Shown& shown) {
    uint64_t n = 0;
    for (const auto& [chunk, size] : shown.chunks)
      for (size_t i = 0; i < size; ++i) n += chunk->records[i].phase == RF_PHASE_ENTER;
    return n;
  }
  static uint64_t marks_in(const LaneWindow::Shown& shown) {
    uint64_t n = 0;
    for (const auto& [chunk, size] : shown.chunks)
      for (size_t i = 0; i < size; ++i) n += chunk->records[i].phase == RF_PHASE_EVENT;
    return n;
  }
  uint64_t kept() const { return calls_in(window.all()); }

  LaneWindow window;
  uint64_t completed = UINT64_MAX;  // by all members

 private:
  void add(uint8_t phase, uint8_t library) {
    rf_record r{};
    r.commit = ++commit;
    r.phase = phase;
    r.library = library;
    r.seq = seq;
    window.add(r);
  }
  uint64_t commit = 0, seq = 0;
};

TEST(LaneWindow, KeepsAtLeastSoManyCallsAndNotManyMore) {
  Lane lane(kWindowCalls);
  for (int i = 0; i < 100'000; ++i) lane.call();
  EXPECT_GE(lane.kept(), kWindowCalls);
  EXPECT_LE(lane.kept(), kWindowCalls + 1024);
  EXPECT_EQ(lane.window.let_go(), 2 * (100'000 - lane.kept()));
  EXPECT_EQ(lane.window.all().first, lane.window.let_go());
  EXPECT_EQ(lane.window.marks_let_go(), 0u);
}

TEST(LaneWindow, KeepsWhatAMemberHasNotCompleted) {
  Lane lane(64);
  lane.completed = 10;
  for (int i = 0; i < 120; ++i) lane.call();
  EXPECT_GE(lane.kept(), 110u) << "a member is still at call 10";
  lane.completed = 120;
  lane.call();
  EXPECT_LE(lane.kept(), 64u + 16);
  EXPECT_GE(lane.kept(), 64u);
}

TEST(LaneWindow, AMemberThatNeverComesDoesNotKeepEverything) {
  Lane lane(64);
  lane.completed = 10;
  for (int i = 0; i < 10'000; ++i) lane.call();
  EXPECT_LE(lane.kept(), 2 * 64u + 16);
}

TEST(LaneWindow, CallsDoNotPushMarksOut) {
  Lane lane(64);
  for (int i = 0; i < 40; ++i) lane.mark();
  for (int i = 0; i < 10'000; ++i) lane.call();
  EXPECT_EQ(Lane::marks_in(lane.window.all()), 40u);
  EXPECT_EQ(lane.window.marks_let_go(), 0u);
  for (int i = 0; i < 1000; ++i) lane.mark();
  lane.call();
  EXPECT_LE(Lane::marks_in(lane.window.all()), 64u + 16);
  EXPECT_EQ(lane.window.marks_let_go(), 1040 - Lane::marks_in(lane.window.all()));
}

TEST(LaneWindow, ALookStaysAsItWas) {
  Lane lane(64);
  for (int i = 0; i < 100; ++i) lane.call();
  const LaneWindow::Shown before = lane.window.all();
  const uint64_t calls = Lane::calls_in(before);
  for (int i = 0; i < 1000; ++i) lane.call();
  EXPECT_EQ(Lane::calls_in(before), calls);
  EXPECT_EQ(before.chunks.front().first->records.front().commit, before.first + 1);
}

TEST(LaneWindow, ShowsTheNewestCallsAlone) {
  Lane lane(kWindowCalls);
  for (int i = 0; i < 20'000; ++i) lane.call();
  const LaneWindow::Shown newest = lane.window.newest(256);
  EXPECT_GE(Lane::calls_in(newest), 256u);
  EXPECT_LE(newest.records, 2 * 1024u + 512);
  EXPECT_EQ(newest.first, newest.chunks.front().first->records.front().commit - 1);
}

TEST(LaneWindow, CallsBeforeAHoleAreLetGo) {
  Lane lane(64);
  for (int i = 0; i < 50; ++i) lane.call();
  lane.mark();
  lane.window.after_hole();
  lane.call();
  EXPECT_EQ(lane.kept(), 1u);
  EXPECT_EQ(Lane::marks_in(lane.window.all()), 1u);
}

}  // namespace
}  // namespace rankfault::testing
