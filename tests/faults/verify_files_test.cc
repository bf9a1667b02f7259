// verify_files_test: the effect of faults on segments and files follows from what the job did with them.
#include "tests/support/journal_lines.h"
#include "verify_fixture.h"

namespace rankfault {
namespace {

TEST_F(Verify, AnUnlinkedSegmentMustBeMissed) {
  run("shm_unlink@rank=1,file_op=shm_attach,path=/dev/shm/seg*");
  const EffectReport late = verdict();
  EXPECT_EQ(late.effect, Effect::kVoid);
  EXPECT_EQ(late.how, "no process attached to it afterwards");
  process(2).name_at[40] = "/dev/shm/seg.1";
  record(2, RF_OP_SHM_ATTACH, 40, RF_PHASE_EXIT, 300, ENOENT);
  EXPECT_EQ(effect(), Effect::kVoid) << "a probe for a name that was not there";
  push_line(facts.journal, {{"n", 9},
                            {"t", 130},
                            {"ev", "fault_effect"},
                            {"fault", "shm_unlink"},
                            {"action", 0},
                            {"what", "segment_gone"},
                            {"path", "/dev/shm/seg.1"},
                            {"time", 130}});
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(Verify, AnEarlierFailedAttachIsNotOurs) {
  run("shm_unlink@rank=1,file_op=shm_attach,path=/dev/shm/seg*");
  process(2).name_at[40] = "/dev/shm/seg.1";
  record(2, RF_OP_SHM_ATTACH, 40, RF_PHASE_EXIT, 50, ENOENT);
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, ACutSegmentEndsSomebodyBySigbus) {
  run("shm_truncate@rank=1,op=all_reduce,path=/dev/shm/seg*");
  EXPECT_EQ(effect(), Effect::kVoid);
  end(2, ExitStatus::Kind::kSignal, SIGBUS);
  EXPECT_EQ(effect(), Effect::kVerified);
}

// Segment 40 was harmed at 115.
class VerifySegment : public Verify {
 protected:
  void harmed(const std::string& what) {
    push_line(facts.journal, {{"n", 9},
                              {"t", 115},
                              {"ev", "fault_effect"},
                              {"fault", facts.plan.scenario.faults[0].id},
                              {"action", 0},
                              {"what", what},
                              {"path", "/dev/shm/seg.1"},
                              {"time", 115}});
  }
  void uses(int rank, rf_op op, uint64_t time, int error) {
    process(rank).name_at[40] = "/dev/shm/seg.1";
    record(rank, op, 40, RF_PHASE_EXIT, time, error);
  }
};

TEST_F(VerifySegment, AClosedSegmentMustRefuseSomebody) {
  run("shm_chmod@rank=1,file_op=shm_attach,path=/dev/shm/seg*");
  harmed("mode_changed");
  EXPECT_EQ(verdict().how, "no process attached to it afterwards");
  uses(2, RF_OP_SHM_ATTACH, 50, EACCES);  // before the harm
  EXPECT_EQ(effect(), Effect::kVoid);
  uses(2, RF_OP_SHM_ATTACH, 150, EACCES);
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(VerifySegment, AModeDoesNotHoldRoot) {
  run("shm_chmod@rank=1,file_op=shm_attach,path=/dev/shm/seg*");
  harmed("mode_changed");
  uses(1, RF_OP_SHM_ATTACH, 150, 0);
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVoid);
  EXPECT_NE(report.how.find("such as root's"), std::string::npos) << report.how;
}

TEST_F(VerifySegment, ALeftoverMustBeMet) {
  run("shm_stale@rank=1,file_op=shm_create,path=/dev/shm/seg*");
  EXPECT_EQ(effect(), Effect::kVoid);
  harmed("segment_left");
  EXPECT_EQ(effect(), Effect::kVoid);
  uses(1, RF_OP_SHM_CREATE, 150, EEXIST);
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVerified);
  EXPECT_EQ(report.how, "rank 1's shm_create of /dev/shm/seg.1 found the stale segment (File exists)");
}

TEST_F(VerifySegment, ALeftoverThatIsTakenForOnesOwnWasMetToo) {
  run("shm_stale@rank=1,file_op=shm_create,path=/dev/shm/seg*");
  harmed("segment_left");
  uses(1, RF_OP_SHM_CREATE, 150, 0);
  EXPECT_EQ(effect(), Effect::kVerified);
}

// If the job itself removed it or found it missing before, it was not left over.
TEST_F(VerifySegment, ALeftoverThatCameTooLateIsNone) {
  run("shm_stale@rank=1,file_op=shm_create,path=/dev/shm/seg*");
  harmed("segment_left");
  uses(0, RF_OP_SHM_UNLINK, 50, ENOENT);
  uses(1, RF_OP_SHM_CREATE, 150, EEXIST);
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(VerifySegment, ANameThatWasNotThereAfterwardsWasNotMet) {
  run("shm_stale@rank=1,file_op=shm_attach,path=/dev/shm/seg*");
  harmed("segment_left");
  uses(2, RF_OP_SHM_ATTACH, 150, ENOENT);
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(VerifySegment, AReplacedSegmentMustBeOpened) {
  run("shm_replace@rank=1,file_op=shm_attach,path=/dev/shm/seg*");
  harmed("segment_replaced");
  uses(2, RF_OP_SHM_ATTACH, 50, 0);  // the job's own segment, before
  EXPECT_EQ(effect(), Effect::kVoid);
  uses(1, RF_OP_SHM_ATTACH, 150, 0);
  EXPECT_EQ(effect(), Effect::kVerified);
}

// A file below the job's TMPDIR was harmed at 115.
class VerifyFile : public Verify {
 protected:
  static constexpr uint64_t kInode = 4711, kBorn = 90;
  static constexpr const char* kPath = "/tmp/rf.1/checkpoints/ckpt-20.bin";

  void harmed() {
    gate.op = "open";
    push_line(facts.journal, {{"n", 7},
                              {"ev", "fault_effect"},
                              {"fault", facts.plan.scenario.faults[0].id},
                              {"action", 0},
                              {"what", "file_harmed"},
                              {"path", kPath},
                              {"inode", kInode},
                              {"born", kBorn},
                              {"time", 115}});
  }
  rf_record& opens(int rank, uint64_t time, int flags, int error = 0) {
    process(rank).name_at[40] = kPath;
    rf_record& end = record(rank, RF_OP_FILE_OPEN, 40, RF_PHASE_EXIT, time, error);
    end.count = error ? 0 : kInode;
    end.where = error ? 0 : kBorn;
    end.flags = static_cast<uint16_t>(flags);
    return end;
  }
  void cut() {
    run("file_truncate@rank=1,file_op=open,path=checkpoints/ckpt-*.bin,size=8");
    harmed();
  }
};

TEST_F(VerifyFile, ACutFileMustBeOpenedAfterwards) {
  cut();
  opens(0, 50, RF_OPEN_READS);  // before the cut
  process(2).name_at[41] = "/tmp/rf.1/checkpoints/ckpt-10.bin";
  rf_record& other = opens(2, 150, RF_OPEN_READS);  // another file
  other.seq = 41;
  other.count = 12;
  const EffectReport none = verdict();
  EXPECT_EQ(none.effect, Effect::kVoid);
  EXPECT_EQ(none.how, "no process read the truncated file");
  opens(1, 160, RF_OPEN_READS);
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVerified);
  EXPECT_EQ(report.at, instant_of(160));
}

TEST_F(VerifyFile, AFlippedBitMustBeInWhatIsOpened) {
  run("file_flip_bit@rank=1,file_op=open,path=checkpoints/ckpt-*.bin,bit=3");
  harmed();
  opens(1, 150, RF_OPEN_READS, EACCES);
  EXPECT_EQ(effect(), Effect::kVoid);
  opens(1, 160, RF_OPEN_READS);
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(VerifyFile, WhatIsOverwrittenWasNotRead) {
  cut();
  opens(0, 150, RF_OPEN_WRITES | RF_OPEN_EMPTIES);
  opens(1, 160, RF_OPEN_READS);  // reads what was written again
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVoid);
  EXPECT_EQ(report.how, "no process read the truncated file: rank 0 emptied it when it opened it");
}

TEST_F(VerifyFile, WhatIsOpenedForReadingAndWritingWasRead) {
  cut();
  opens(0, 150, RF_OPEN_READS | RF_OPEN_WRITES);
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(VerifyFile, WhatWasOpenedForWritingOnlyMayBeMendedForLaterReaders) {
  cut();
  opens(0, 150, RF_OPEN_WRITES);
  EXPECT_EQ(effect(), Effect::kVoid);
  opens(1, 160, RF_OPEN_READS);
  EXPECT_EQ(effect(), Effect::kUnknown);
}

TEST_F(VerifyFile, AFileThatTookItsNameIsNotTheHarmedOne) {
  cut();
  opens(1, 150, RF_OPEN_READS).count = 4712;
  EXPECT_EQ(verdict().how, "no process read the truncated file: rank 1 opened another file of that name");
  process(1).history.back().record.count = kInode;
  process(1).history.back().record.where = 140;  // another file has the inode's number now
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(VerifyFile, UnderAnotherNameItIsStillTheSameFile) {
  cut();
  opens(2, 150, RF_OPEN_READS);
  process(2).name_at[40] = "/tmp/rf.1/checkpoints/latest.bin";
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(VerifyFile, AnOpeningOfWhichNothingIsOnRecordIsNoProof) {
  cut();
  opens(1, 150, 0).count = 0;
  EXPECT_EQ(effect(), Effect::kUnknown);
}

TEST_F(VerifyFile, ARemovedFileMustBeMissed) {
  run("file_unlink@rank=1,file_op=open,path=checkpoints/ckpt-*.bin");
  harmed();
  EXPECT_EQ(effect(), Effect::kVoid);
  opens(1, 160, RF_OPEN_READS, ENOENT);
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(VerifyFile, ARemovedFileThatWasMadeAnewIsMissedForAnotherReason) {
  run("file_unlink@rank=1,file_op=open,path=checkpoints/ckpt-*.bin");
  harmed();
  opens(1, 150, RF_OPEN_WRITES | RF_OPEN_EMPTIES);
  opens(1, 160, RF_OPEN_READS, ENOENT);
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(VerifyFile, WithoutAFileToHarmTheRunIsVoid) {
  run("file_truncate@rank=1,file_op=open,path=checkpoints/ckpt-*.bin");
  gate.effect = "refused";
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Verify, AShortWriteIsOnRecordWithItsBytes) {
  run("short_write@rank=1,file_op=write,bytes=5");
  EXPECT_EQ(effect(), Effect::kVoid);
  record(1, RF_OP_FILE_WRITE, 40, RF_PHASE_ENTER, 50).count = 5;  // before the gate
  EXPECT_EQ(effect(), Effect::kVoid);
  record(1, RF_OP_FILE_WRITE, 40, RF_PHASE_ENTER, 125).count = 5;
  EXPECT_EQ(effect(), Effect::kVerified);
}

TEST_F(Verify, AnotherWriteOfThatSizeIsNotTheShortOne) {
  run("short_write@rank=1,file_op=write,bytes=5");
  record(1, RF_OP_FILE_WRITE, 40, RF_PHASE_ENTER, 125).count = 8;
  record(1, RF_OP_FILE_WRITE, 40, RF_PHASE_ENTER, 130).count = 5;
  EXPECT_EQ(effect(), Effect::kVoid);
}

}  // namespace
}  // namespace rankfault
