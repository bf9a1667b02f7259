// A flight record of another host: what changed is sent, and the copy reads like the record, on the tool's
// clock.
#include "harness/nodes/flight_mirror.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "harness/observe/ring_reader.h"
#include "tests/observe/ring_file_writer.h"
#include "tests/support/tool.h"

namespace rankfault::testing {
namespace {

constexpr int64_t kOffset = -700'000;  // the clock of the node is behind that of the tool

class Mirrored : public ::testing::Test {
 protected:
  Mirrored() {
    std::filesystem::create_directories(here_);
    writer_.add_comm(77, "world", 4, 2);
    writer_.comm(0).created_ns = 900'000;
    copy_.emplace(*FlightCopy::open(writer_.path()));
    mirror_.emplace(*FlightMirror::create(here_, std::filesystem::path(writer_.path()).filename()));
  }
  uint64_t send(FlightCopy::Take what) {
    FlightChange change = copy_->take(what);
    EXPECT_TRUE(change.is_of_one_instant);
    uint64_t bytes = 0;
    for (const FlightPart& part : change.parts) bytes += part.bytes.size();
    const Status applied = mirror_->apply(std::move(change), kOffset);
    EXPECT_TRUE(applied.ok()) << (applied.ok() ? "" : applied.error().message);
    return bytes;
  }
  std::unique_ptr<RingReader> read(const std::string& folder) {
    return std::move(
        *RingReader::open(folder + "/" + std::filesystem::path(writer_.path()).filename().string()));
  }
  std::vector<Event> records(const std::string& folder) {
    std::vector<Event> events;
    read(folder)->read_lane(0, 0, events);
    return events;
  }

  rankfault::test::Scratch scratch_;
  const std::string there_ = scratch_.path(), here_ = scratch_.file("here");
  RingFileWriter writer_{there_, ProcessId{5, 6, 7, 8, 0}, 2, 4, 1};
  std::optional<FlightCopy> copy_;
  std::optional<FlightMirror> mirror_;
};

TEST_F(Mirrored, ReadsLikeTheRecordOnTheToolsClock) {
  for (int i = 0; i < 10; ++i) {
    writer_.enter(0, RF_OP_ALL_REDUCE);
    writer_.leave(0);
  }
  send(FlightCopy::Take::kAll);
  const auto there = read(there_), here = read(here_);
  EXPECT_EQ(here->id(), there->id());
  const ProcessView a = there->view(), b = here->view();
  EXPECT_EQ(b.rank, 2);
  EXPECT_EQ(b.opened, a.opened - Duration(kOffset));
  ASSERT_EQ(b.lanes.size(), 1u);
  EXPECT_EQ(b.lanes[0].head, a.lanes[0].head);
  EXPECT_EQ(b.lanes[0].state.since_ns, a.lanes[0].state.since_ns - static_cast<uint64_t>(kOffset));
  EXPECT_EQ(b.lanes[0].state.deadline_ns, 0u) << "an unknown time stays unknown";
  const std::vector<Event> told = records(here_), written = records(there_);
  ASSERT_EQ(told.size(), written.size());
  for (size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].record.time_ns, written[i].record.time_ns - static_cast<uint64_t>(kOffset));
    EXPECT_EQ(told[i].record.seq, written[i].record.seq);
    EXPECT_EQ(told[i].record.where, written[i].record.where);
  }
}

TEST_F(Mirrored, SendsOnlyWhatChanged) {
  writer_.enter(0, RF_OP_ALL_REDUCE);
  EXPECT_GT(send(FlightCopy::Take::kAll), 0u);
  EXPECT_EQ(send(FlightCopy::Take::kAll), 0u);
  writer_.leave(0);
  EXPECT_LE(send(FlightCopy::Take::kState), 10u * 64);
}

TEST_F(Mirrored, RecordsStayOnTheNodeUntilTheyAreAskedFor) {
  send(FlightCopy::Take::kAll);
  for (int i = 0; i < 100; ++i) {
    writer_.enter(0, RF_OP_ALL_REDUCE);
    writer_.leave(0);
  }
  EXPECT_LE(send(FlightCopy::Take::kState), 10u * 64);
  EXPECT_TRUE(records(here_).empty());
  EXPECT_EQ(read(here_)->view().lanes[0].head, 0u) << "no record seems torn";
  EXPECT_GE(send(FlightCopy::Take::kAll), 200u * 64);
  EXPECT_EQ(records(here_).size(), 200u);
}

TEST_F(Mirrored, ARecordThatIsNotWholeIsSentWhenItIs) {
  writer_.enter(0, RF_OP_ALL_REDUCE);
  rf_record& torn = writer_.claim(0);
  send(FlightCopy::Take::kAll);
  std::vector<Event> events;
  EXPECT_EQ(read(here_)->read_lane(0, 0, events).torn, std::vector<uint64_t>{1});
  writer_.commit(0, torn);
  send(FlightCopy::Take::kAll);
  EXPECT_EQ(records(here_).size(), 2u);
}

TEST_F(Mirrored, ARingThatWrappedBetweenTwoQuestionsLosesTheOldRecords) {
  send(FlightCopy::Take::kAll);
  for (uint64_t i = 0; i < RF_LANE_RECORDS; ++i) {
    writer_.enter(0, RF_OP_ALL_REDUCE);
    writer_.leave(0);
  }
  send(FlightCopy::Take::kAll);
  std::vector<Event> events;
  const auto read_lane = read(here_)->read_lane(0, 0, events);
  EXPECT_EQ(read_lane.lost, RF_LANE_RECORDS);
  EXPECT_EQ(events.size(), RF_LANE_RECORDS);
}

TEST_F(Mirrored, RefusesWhatIsNoPartOfARecord) {
  const uint64_t size = copy_->size();
  const std::string line(64, 'x');
  EXPECT_FALSE(mirror_->apply({size, true, {{size, line}}}, 0).ok());
  EXPECT_FALSE(mirror_->apply({size, true, {{size - 64, line + line}}}, 0).ok());
  EXPECT_FALSE(mirror_->apply({size, true, {{UINT64_MAX - 63, line}}}, 0).ok());
  EXPECT_FALSE(mirror_->apply({size, true, {{8, line}}}, 0).ok());
  EXPECT_FALSE(mirror_->apply({UINT64_MAX, true, {}}, 0).ok());
  EXPECT_TRUE(mirror_->apply({size, true, {{0, line}}}, 0).ok());
  EXPECT_FALSE(mirror_->apply({size - 64, true, {}}, 0).ok()) << "a record never becomes shorter";
}

TEST_F(Mirrored, RefusesNamesThatAreNoRecords) {
  for (const char* name :
       {"", "x.ring", "../1.2.3.4.0.ring", "1.2.3.4.0.actions", "1.2.3.4.0.ring/..", ".ring"})
    EXPECT_FALSE(FlightMirror::create(here_, name).ok()) << name;
  const std::string there = std::filesystem::path(writer_.path()).filename();
  EXPECT_FALSE(FlightMirror::create(here_, there).ok()) << "a second process cannot have the same name";
}

}  // namespace
}  // namespace rankfault::testing
