// call_history_test: records of a process become calls, whatever is missing.
#include "harness/observe/call_history.h"

#include <gtest/gtest.h>

namespace rankfault {
namespace {

constexpr uint64_t kWorld = 77;
constexpr uint32_t kWorldIndex = 4;

class History : public testing::Test {
 protected:
  History() {
    CommView world;
    world.index = kWorldIndex;
    world.id = kWorld;
    process.comms.push_back(world);
  }
  // Adds a record of call `number` on lane 1.
  rf_record& record(rf_phase phase, uint32_t number, uint16_t op = RF_OP_ALL_REDUCE, int result = 0) {
    Event event;
    event.lane = 1;
    event.record.phase = phase;
    event.record.call = number;
    event.record.op = op;
    event.record.library = RF_LIB_GLOO;
    event.record.comm = kWorldIndex;
    event.record.tag_or_result = result;
    event.record.time_ns = 100 * (process.history.size() + 1);
    process.history.push_back(event);
    return process.history.back().record;
  }
  // Adds the end of the pending work of call `number`, seen on lane 2.
  rf_record& ends(uint32_t number, rf_phase phase, int result = 0) {
    rf_record& end = record(phase, 0, RF_OP_NONE, result);
    end.library = RF_LIB_NONE;
    end.where = RF_ORIGIN(1, number);
    process.history.back().lane = 2;
    return end;
  }
  rf_record& file(rf_phase phase, uint32_t number, uint16_t op, uint64_t name, int result = 0) {
    rf_record& of_file = record(phase, number, op, result);
    of_file.library = RF_LIB_LIBC;
    of_file.comm = RF_NO_COMM;
    of_file.seq = name;
    return of_file;
  }

  ProcessView process;
};

TEST_F(History, PairsTheRecordsOfACall) {
  record(RF_PHASE_ENTER, 1);
  record(RF_PHASE_ENTER, 2);  // inside the first
  record(RF_PHASE_EXIT, 2);
  record(RF_PHASE_EXIT, 1, RF_OP_ALL_REDUCE, 7);
  const CallHistory history(process);
  ASSERT_EQ(history.calls().size(), 2u);
  const RecordedCall& outer = history.calls()[0];
  EXPECT_EQ(outer.entered(), instant_of(100));
  EXPECT_EQ(outer.left(), instant_of(400));
  EXPECT_EQ(outer.status(), CallStatus::kFailed);
  EXPECT_EQ(outer.result(), 7);
  EXPECT_EQ(history.find({1, 2})->status(), CallStatus::kReturned);
  EXPECT_EQ(history.find({2, 2}), nullptr);
}

// The thread got success. What became of the work is seen later, perhaps by another thread.
TEST_F(History, PendingWorkMayFailAfterItsCall) {
  record(RF_PHASE_ENTER, 1);
  record(RF_PHASE_ENQUEUE, 1);
  EXPECT_EQ(CallHistory(process).calls()[0].status(), CallStatus::kPending);
  ends(1, RF_PHASE_ERROR, 5);
  const CallHistory history(process);
  ASSERT_EQ(history.calls().size(), 1u);
  EXPECT_EQ(history.calls()[0].status(), CallStatus::kFailed);
  EXPECT_FALSE(history.calls()[0].left_with_error());
  EXPECT_EQ(history.calls()[0].left(), instant_of(200));
}

TEST_F(History, WorkMayBeCompleteBeforeItsCallIsLeft) {
  record(RF_PHASE_ENTER, 1);
  ends(1, RF_PHASE_COMPLETE);
  record(RF_PHASE_ENQUEUE, 1);
  const CallHistory history(process);
  EXPECT_EQ(history.calls()[0].status(), CallStatus::kReturned);
  EXPECT_EQ(history.calls()[0].left(), instant_of(300));
}

TEST_F(History, ACallWhoseEntryIsLostStillEnds) {
  record(RF_PHASE_EXIT, 1).seq = 3;
  const CallHistory history(process);
  EXPECT_EQ(history.calls()[0].enter, nullptr);
  EXPECT_FALSE(is_known(history.calls()[0].entered()));
  EXPECT_EQ(history.calls()[0].op(), RF_OP_ALL_REDUCE);
  EXPECT_TRUE(history.calls()[0].left_with_success());
  EXPECT_TRUE(history.at_place(kWorld, 3)->succeeded);
}

TEST_F(History, TheStateTellsOfACallWithoutRecords) {
  LaneView lane;
  lane.index = 1;
  lane.state.where = RF_INSIDE;
  lane.state.call = 9;
  lane.state.op = RF_OP_BARRIER;
  lane.state.since_ns = 50;
  process.lanes.push_back(lane);
  EXPECT_TRUE(CallHistory(process).calls().empty());
  const CallHistory history(process, OpenCalls::kByStates);
  ASSERT_EQ(history.calls().size(), 1u);
  EXPECT_EQ(history.calls()[0].op(), RF_OP_BARRIER);
  EXPECT_EQ(history.calls()[0].entered(), instant_of(50));
  EXPECT_EQ(history.calls()[0].status(), CallStatus::kInside);
}

// PyTorch gives a call its place while it is open. A wait for the call has the same place.
TEST_F(History, AWaitFillsThePlaceOfItsCall) {
  record(RF_PHASE_ENTER, 1);
  record(RF_PHASE_ENQUEUE, 1).seq = 3;
  EXPECT_FALSE(CallHistory(process).at_place(kWorld, 3)->succeeded);
  record(RF_PHASE_ENTER, 2, RF_OP_WAIT).seq = 3;
  record(RF_PHASE_EXIT, 2, RF_OP_WAIT).seq = 3;
  const CallHistory history(process);
  const auto place = history.at_place(kWorld, 3);
  EXPECT_EQ(place->call->op(), RF_OP_ALL_REDUCE);
  EXPECT_TRUE(place->succeeded);
  EXPECT_FALSE(history.at_place(kWorld, 4));
  EXPECT_FALSE(history.at_place(kWorld + 1, 3));
}

TEST_F(History, MessagesAndExecutionsHaveNoPlace) {
  record(RF_PHASE_ENTER, 1, RF_OP_SEND).seq = 3;
  rf_record& execution = record(RF_PHASE_ENTER, 2);
  execution.seq = 3;
  execution.flags = RF_CALL_EXECUTION;
  record(RF_PHASE_ENTER, 3);  // the library does not count it
  const CallHistory history(process);
  EXPECT_FALSE(history.at_place(kWorld, 3));
  EXPECT_FALSE(history.at_place(kWorld, 0));
}

TEST_F(History, FilesHavePathsAndComeInTheOrderOfTheirEnds) {
  process.name_at[40] = "a.XXXXXX";
  process.name_at[41] = "a.made";
  process.name_at[42] = "b";
  file(RF_PHASE_ENTER, 1, RF_OP_FILE_OPEN, 40);
  file(RF_PHASE_ENTER, 2, RF_OP_FILE_OPEN, 42);
  file(RF_PHASE_EXIT, 2, RF_OP_FILE_OPEN, 42);
  file(RF_PHASE_EXIT, 1, RF_OP_FILE_OPEN, 41);
  file(RF_PHASE_EXIT, 3, RF_OP_FILE_OPEN, 99);  // its name is lost
  file(RF_PHASE_ENTER, 4, RF_OP_FILE_OPEN, 42);
  file(RF_PHASE_EXIT, 5, RF_OP_FILE_WRITE, 42);
  const CallHistory history(process);
  const auto opened = history.file_calls(RF_OP_FILE_OPEN);
  ASSERT_EQ(opened.size(), 2u);
  EXPECT_EQ(*history.path_of(*opened[0]), "b");
  EXPECT_EQ(*history.path_of(*opened[1]), "a.made");
}

class Kept final : public HistorySource {
 public:
  explicit Kept(std::vector<Event> events) : events_(std::move(events)) {}
  std::optional<std::vector<Event>> events() const override { return events_; }

 private:
  std::vector<Event> events_;
};

TEST_F(History, ReadsTheRecordsWhereverTheyAre) {
  record(RF_PHASE_ENTER, 1);
  record(RF_PHASE_EXIT, 1);
  process.source = std::make_shared<Kept>(std::move(process.history));
  process.history.clear();
  const CallHistory history(process);
  ASSERT_EQ(history.calls().size(), 1u);
  EXPECT_EQ(history.calls()[0].left(), instant_of(200));
}

}  // namespace
}  // namespace rankfault
