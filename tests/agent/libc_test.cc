// The opt-in libc module: file operations as points.
#include <gmock/gmock.h>

#include <cerrno>
#include <filesystem>

#include "tests/agent/agent_run.h"

namespace rankfault::test {
namespace {

class LibcPoints : public testing::Test {
 protected:
  LibcPoints() { run.agent = RF_TEST_AGENT ":" RF_LIBC_MODULE; }
  rf_armed& arm_path(uint16_t op, uint32_t verb, const char* pattern) {
    rf_armed& a = run.arm(op, verb);
    a.ask = 0;
    run.control().libc_points = 1;
    std::snprintf(a.path, sizeof(a.path), "%s", pattern);
    return a;
  }
  std::vector<uint16_t> ops(uint8_t phase) {
    std::vector<uint16_t> found;
    for (const rf_record& r : run.ring().records(0))
      if (r.library == RF_LIB_LIBC && r.phase == phase) found.push_back(r.op);
    return found;
  }
  AgentRun run;
};

TEST_F(LibcPoints, LeaveAProgramAsItIsWhenNothingIsArmed) {
  EXPECT_EQ(run.run({"checkpoint", run.folder()}), 0) << run.out();
  EXPECT_THAT(ops(RF_PHASE_ENTER), testing::IsEmpty());
}

TEST_F(LibcPoints, FailAnOperationWithTheErrnoAsked) {
  arm_path(RF_OP_FILE_WRITE, RF_VERB_FAIL, "*.tmp").arg[0] = ENOSPC;
  run.control().armed[0].nth = 2;
  EXPECT_EQ(run.run({"checkpoint", run.folder()}), ENOSPC);
  const auto records = run.ring().records(0);
  EXPECT_EQ(records.back().tag_or_result, ENOSPC);
  EXPECT_EQ(run.ring().name(static_cast<uint32_t>(records.back().seq)), run.folder() + "/model.tmp");
  ASSERT_EQ(run.actions().size(), 1u);
  EXPECT_EQ(Actions(run.actions()[0]).records().at(0).nth, 2u);
}

TEST_F(LibcPoints, StandBeforeTheRenameOfATemporaryFile) {
  arm_path(RF_OP_FILE_RENAME, RF_VERB_RAISE, "*/model.tmp").arg[0] = SIGKILL;
  EXPECT_EQ(run.run({"checkpoint", run.folder()}), 1000 + SIGKILL);
  EXPECT_TRUE(std::filesystem::exists(run.folder() + "/model.tmp"));
  EXPECT_FALSE(std::filesystem::exists(run.folder() + "/model"));
}

TEST_F(LibcPoints, MatchTheNewNameOfARenameToo) {
  arm_path(RF_OP_FILE_RENAME, RF_VERB_FAIL, "model").arg[0] = EXDEV;
  EXPECT_EQ(run.run({"checkpoint", run.folder()}), EXDEV);
}

TEST_F(LibcPoints, LetAWriteTakeFewerBytes) {
  rf_armed& a = arm_path(RF_OP_FILE_WRITE, RF_VERB_ARG, "*.tmp");
  a.arg[0] = RF_ARG_COUNT;
  a.arg[1] = 3;
  a.nth = 2;
  run.run({"checkpoint", run.folder()});  // the subject gives up when a write is short
  EXPECT_EQ(std::filesystem::file_size(run.folder() + "/model.tmp"), sizeof("weights") + 3);
  ASSERT_EQ(run.actions().size(), 1u);
  EXPECT_EQ(Actions(run.actions()[0]).records().at(0).effect, static_cast<uint32_t>(RF_EFFECT_DONE));
}

TEST_F(LibcPoints, NeverLetAWriteTakeMoreThanItWasGiven) {
  rf_armed& a = arm_path(RF_OP_FILE_WRITE, RF_VERB_ARG, "*.tmp");
  a.arg[0] = RF_ARG_COUNT;
  a.arg[1] = sizeof("weights");
  EXPECT_EQ(run.run({"checkpoint", run.folder()}), 0);
  EXPECT_EQ(Actions(run.actions().at(0)).records().at(0).effect, static_cast<uint32_t>(RF_EFFECT_UNABLE));
}

TEST_F(LibcPoints, GiveAFileTheSizeItIsToHave) {  // recorded as a write, which cannot be short
  rf_armed& a = arm_path(RF_OP_FILE_WRITE, RF_VERB_ARG, "/dev/shm/rfagent.*");
  a.arg[0] = RF_ARG_COUNT;
  a.arg[1] = 100;
  EXPECT_EQ(run.run({"shared_memory"}), 0) << run.out();
  EXPECT_EQ(Actions(run.actions().at(0)).records().at(0).effect, static_cast<uint32_t>(RF_EFFECT_UNABLE));
}

TEST_F(LibcPoints, TakingSpaceIsACallOfItsOwn) {
  rf_armed& a = arm_path(RF_OP_FILE_ALLOCATE, RF_VERB_FAIL, "*/space");
  a.arg[0] = ENOSPC;
  a.nth = 3;  // there are only two
  EXPECT_EQ(run.run({"taken_space", run.folder()}), 0) << run.out();
  EXPECT_EQ(std::filesystem::file_size(run.folder() + "/space"), 8192u);
  const auto records = run.ring().records(0);
  EXPECT_EQ(records.back().op, RF_OP_FILE_ALLOCATE);
  EXPECT_EQ(records.back().count, 8192u);
  EXPECT_THAT(ops(RF_PHASE_EXIT), testing::ElementsAre(RF_OP_FILE_ALLOCATE, RF_OP_FILE_ALLOCATE));
}

TEST_F(LibcPoints, SpaceCanBeRefusedAndErrnoIsLeftAlone) {
  for (const uint32_t nth : {1u, 2u}) {
    AgentRun one;
    one.agent = RF_TEST_AGENT ":" RF_LIBC_MODULE;
    rf_armed& a = one.arm(RF_OP_FILE_ALLOCATE, RF_VERB_FAIL);
    a.ask = 0;
    a.nth = nth;
    a.arg[0] = ENOSPC;
    std::snprintf(a.path, sizeof(a.path), "%s", "*/space");
    EXPECT_EQ(one.run({"taken_space", one.folder()}), ENOSPC);
  }
}

TEST_F(LibcPoints, AWriteSaysHowManyBytesItTook) {
  arm_path(RF_OP_FILE_WRITE, RF_VERB_FAIL, "*/limited").nth = 9;
  ASSERT_EQ(run.run({"limited_file", run.folder()}), 0) << run.out();
  std::vector<uint64_t> counts;
  for (const rf_record& r : run.ring().records(0))
    if (r.op == RF_OP_FILE_WRITE) counts.push_back(r.count);
  EXPECT_THAT(counts, testing::ElementsAre(8, 8, 8, 2));  // asked, taken, asked, taken
}

// The file that the subject writes, renames and reads again is one file: its identity does not depend on its
// name.
TEST_F(LibcPoints, AnOpeningSaysWhichFileItWasAndHowItWasOpened) {
  arm_path(RF_OP_FILE_OPEN, RF_VERB_FAIL, "*/model*").nth = 9;
  ASSERT_EQ(run.run({"checkpoint", run.folder()}), 0) << run.out();
  std::vector<rf_record> opened;
  for (const rf_record& r : run.ring().records(0))
    if (r.op == RF_OP_FILE_OPEN && r.phase == RF_PHASE_EXIT) opened.push_back(r);
  ASSERT_EQ(opened.size(), 2u);
  EXPECT_EQ(opened[0].flags, RF_OPEN_WRITES | RF_OPEN_EMPTIES);
  EXPECT_EQ(opened[1].flags, RF_OPEN_READS);
  EXPECT_NE(opened[0].count, 0u);
  EXPECT_EQ(opened[0].count, opened[1].count);
  EXPECT_EQ(opened[0].where, opened[1].where);
}

TEST_F(LibcPoints, ActOnEveryKindOfOperation) {
  const std::pair<uint16_t, int> all[] = {
      {RF_OP_FILE_OPEN, EACCES}, {RF_OP_FILE_FSYNC, EIO}, {RF_OP_FILE_CLOSE, EDQUOT}};
  for (const auto& [op, code] : all) {
    AgentRun one;
    one.agent = RF_TEST_AGENT ":" RF_LIBC_MODULE;
    rf_armed& a = one.arm(op, RF_VERB_FAIL);
    a.ask = 0;
    a.arg[0] = static_cast<uint64_t>(code);
    std::snprintf(a.path, sizeof(a.path), "%s", "*/model.tmp");
    EXPECT_EQ(one.run({"checkpoint", one.folder()}), code);
  }
}

TEST_F(LibcPoints, RecordSharedMemoryAlways) {
  ASSERT_EQ(run.run({"shared_memory"}), 0) << run.out();
  EXPECT_THAT(ops(RF_PHASE_EXIT),
              testing::ElementsAre(RF_OP_SHM_CREATE, RF_OP_FILE_WRITE, RF_OP_SHM_ATTACH, RF_OP_SHM_UNLINK));
}

TEST_F(LibcPoints, NameATemporarySegmentAsItWasMade) {
  ASSERT_EQ(run.run({"temporary_segment"}), 0) << run.out();
  const Ring ring = run.ring();
  EXPECT_STREQ(ring.header().coverage[0].decoder, "libc");
  EXPECT_THAT(ops(RF_PHASE_EXIT), testing::ElementsAre(RF_OP_SHM_CREATE, RF_OP_FILE_CLOSE, RF_OP_SHM_UNLINK));
  for (const rf_record& r : ring.records(0))
    if (r.op == RF_OP_SHM_CREATE && r.phase == RF_PHASE_EXIT) {
      EXPECT_EQ(ring.name(static_cast<uint32_t>(r.seq)) + "\n", run.out());
    }
}

TEST_F(LibcPoints, SayOfASegmentThatTheCallMadeWhichFileItIs) {
  ASSERT_EQ(run.run({"opened_segment"}), 0) << run.out();
  std::vector<std::string> said;
  for (const rf_record& r : run.ring().records(0))
    if (r.op == RF_OP_SHM_CREATE && r.phase == RF_PHASE_EXIT)
      said.push_back(std::to_string(r.count) + " " + std::to_string(r.where) + "\n");
  // The second call may have opened a file that another process made: the record does not identify it.
  EXPECT_THAT(said, testing::ElementsAre(run.out(), "0 0\n"));
}

TEST_F(LibcPoints, LetTheHarnessUnlinkASegmentBeforeTheAttach) {
  rf_armed& a = arm_path(RF_OP_SHM_ATTACH, RF_VERB_OUTSIDE, "/dev/shm/rfagent.*");
  a.ask = 1;
  run.answer_with([](rf_gate_slot& slot) {
    return std::filesystem::remove(slot.path) ? RF_ANSWER_RELEASE : RF_ANSWER_NO_GO;
  });
  EXPECT_EQ(run.run({"shared_memory"}), ENOENT);
}

TEST_F(LibcPoints, AreNotThoseOfAVforkChild) {
  ASSERT_EQ(run.run({"vfork_with_files"}), 0);
  EXPECT_THAT(ops(RF_PHASE_ENTER), testing::IsEmpty());
}

TEST_F(LibcPoints, PassThroughWithoutTheCore) {
  run.agent = RF_LIBC_MODULE;
  EXPECT_EQ(run.run({"checkpoint", run.folder()}), 0) << run.out();
  EXPECT_TRUE(run.rings().empty());
}

}  // namespace
}  // namespace rankfault::test
