// versions_test: the differences between the dump versions 2.0 to 2.10.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "samples.h"

namespace rankfault::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

FrDump read(std::string_view json) {
  Result<FrDump> dump = from_json(json);
  EXPECT_TRUE(dump.ok()) << dump.error().message;
  return dump ? std::move(*dump) : FrDump{};
}

TEST(Versions, BeforeTwoThreeThereIsOneSequenceNumber) {
  const FrDump dump = read(R"({"version": "2.1", "entries": [
      {"record_id": 0, "seq_id": 5, "pg_id": 1, "process_group": "1", "profiling_name": "nccl:all_reduce"},
      {"record_id": 1, "seq_id": 6, "is_p2p": true, "profiling_name": "nccl:send 0->1"}]})");
  ASSERT_EQ(dump.entries.size(), 2u);
  EXPECT_EQ(dump.entries[0].collective_seq_id, 5);
  EXPECT_EQ(dump.entries[0].p2p_seq_id, -1);
  EXPECT_EQ(dump.entries[0].group.name, "1");
  EXPECT_EQ(dump.entries[0].group.desc, "");
  EXPECT_EQ(dump.entries[1].p2p_seq_id, 6);
  EXPECT_EQ(dump.entries[1].collective_seq_id, -1);
}

TEST(Versions, ProcessGroupIsAPairInATupleOrAList) {
  const FrDump dump = read(R"({"version": "2.4", "entries": [{"process_group": ["39", "PIPELINE"]}]})");
  EXPECT_EQ(dump.entries.at(0).group.name, "39");
  EXPECT_EQ(dump.entries.at(0).group.desc, "PIPELINE");
}

TEST(Versions, TheLibrarysVersionWasRenamed) {
  EXPECT_EQ(read(R"({"version": "2.9", "nccl_version": "2.27.3"})").comm_lib_version, "2.27.3");
  EXPECT_EQ(read(R"({"version": "2.10", "comm_lib_version": "2.28"})").comm_lib_version, "2.28");
}

TEST(Versions, PgConfigKeepsItsKeysAndReadsRanksAsTextOrList) {
  const FrDump dump = read(R"({"version": "2.5", "pg_config": {
      "0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 15]"},
      "x": {"desc": "undefined", "ranks": [3, 7]}, "y": "[2]", "": {"name": "", "desc": "", "ranks": "[]"},
      "z": {"ranks": "all"}}})");
  ASSERT_EQ(dump.groups.size(), 5u);
  EXPECT_THAT(dump.groups[0].ranks, ElementsAre(0, 1, 15));
  EXPECT_EQ(dump.groups[1].name, "x");
  EXPECT_THAT(dump.groups[1].ranks, ElementsAre(3, 7));
  EXPECT_THAT(dump.groups[2].ranks, ElementsAre(2));
  EXPECT_THAT(dump.groups[3].ranks, ElementsAre());
  EXPECT_THAT(dump.groups[4].ranks, ElementsAre());
  EXPECT_THAT(dump.notes, ElementsAre(HasSubstr("the ranks of group \"z\"")));
}

TEST(Versions, PgStatusIsTextInJson) {
  const FrDump dump = read(R"({"version": "2.9", "pg_status": {"3": {"last_enqueued_collective": "12",
      "last_started_collective": "-1", "last_completed_collective": 11}}})");
  ASSERT_EQ(dump.status.size(), 1u);
  EXPECT_EQ(dump.status[0].pg_id, 3);
  EXPECT_EQ(dump.status[0].last_enqueued, 12);
  EXPECT_EQ(dump.status[0].last_started, -1);
  EXPECT_EQ(dump.status[0].last_completed, 11);
}

TEST(Versions, TimesThatAreNotKnownAreZeroOrNull) {
  const FrDump dump = read(R"({"version": "2.9", "entries": [
      {"time_discovered_started_ns": 0, "time_discovered_completed_ns": null, "duration_ms": 1.5}]})");
  EXPECT_FALSE(dump.entries.at(0).time_discovered_started_ns.has_value());
  EXPECT_FALSE(dump.entries.at(0).time_discovered_completed_ns.has_value());
  EXPECT_EQ(dump.entries.at(0).duration_ms, 1.5);
}

TEST(Versions, CommStateOfAnyLibraryIsKept) {
  const FrDump dump = read(R"({"version": "2.9", "hccl_comm_state": {"0xab": {"rank": "3", "n": 4}}})");
  ASSERT_EQ(dump.comm_state.size(), 1u);
  EXPECT_EQ(dump.comm_state[0].id, "0xab");
  EXPECT_EQ(dump.comm_state[0].fields[1], (std::pair<std::string, std::string>("n", "4")));
}

TEST(Versions, FramesAreDictsOrTexts) {
  const FrDump dump = read(R"({"version": "2.9", "entries": [
      {"frames": [{"name": "f", "filename": "a.py", "line": 3}, {"name": "g", "file": "b.py", "line": "4"}]},
      {"frames": ["#0 f from a.py:3", "main"]}, {"frames": "#0 f from a.py:3\n#1 g from b.py:4\n"}, {"frames": []}]})");
  ASSERT_EQ(dump.entries.size(), 4u);
  EXPECT_EQ(dump.entries[0].frames->at(1)->file, "b.py");
  EXPECT_EQ(dump.entries[0].frames->at(1)->line, 4);
  EXPECT_EQ(dump.entries[1].frames->at(0), dump.entries[0].frames->at(0));
  EXPECT_EQ(dump.entries[1].frames->at(1)->name, "main");
  EXPECT_EQ(dump.entries[2].frames, dump.entries[0].frames);
  EXPECT_TRUE(dump.entries[3].frames->empty());
}

TEST(Versions, TheBackendIsToldFromTheNames) {
  const auto backend = [](std::string_view a, std::string_view b) {
    return read(R"({"version": "2.9", "entries": [{"profiling_name": ")" + std::string(a) +
                R"("}, {"profiling_name": ")" + std::string(b) + "\"}]}")
        .backend;
  };
  EXPECT_EQ(backend("nccl:all_reduce", "nccl:barrier"), FrBackend::kNccl);
  EXPECT_EQ(backend("gloo:all_reduce", "gloo:barrier"), FrBackend::kGloo);
  EXPECT_EQ(backend("xccl:all_reduce", "xccl:barrier"), FrBackend::kOther);
  EXPECT_EQ(backend("gloo:all_reduce", "nccl:barrier"), FrBackend::kMixed);
  EXPECT_EQ(backend("all_reduce", "barrier"), FrBackend::kUnknown);
}

TEST(Versions, AStateThatIsNotKnownKeepsItsWord) {
  const FrDump dump =
      read(R"({"version": "2.11", "entries": [{"state": "paused", "new_field": {"a": [1]}}]})");
  EXPECT_EQ(dump.entries.at(0).state, FrState::kUnknown);
  EXPECT_EQ(dump.entries.at(0).state_word, "paused");
}

}  // namespace
}  // namespace rankfault::testing
