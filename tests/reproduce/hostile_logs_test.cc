// hostile_logs_test: no text makes the readers of logs crash, hang or grow without a bound.
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <fstream>
#include <random>

#include "harness/reproduce/logs/log_lines.h"
#include "log_samples.h"

namespace rankfault {
namespace {

const char* const kPieces[] = {
    "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=",
    "OpType=ALLREDUCE",
    "Timeout(ms)=",
    " ran for ",
    "[PG ID 0 PG GUID 0(default_pg) Rank ",
    "last enqueued NCCL work: ",
    "[rank",
    "]:",
    "] started ",
    " started ranks:\n",
    "] joined but didn't finish collective #",
    "Detected mismatch between collectives on ranks",
    "Rank ",
    " is running collective: CollectiveFingerPrint(TensorShape=[",
    "Timed out waiting ",
    "ms for recv operation to complete",
    "Read error [",
    "NCCL WARN ",
    "Error while attaching to shared memory segment ",
    "Root Cause (first observed failure):\n",
    "[0]:\n",
    "  exitcode  : ",
    "Traceback (most recent call last):\n",
    "  File \"",
    "\", line ",
    ", in ",
    "RuntimeError: x\n",
    "MPI_ABORT was invoked on rank ",
    "Errorcode: ",
    "Process name: [",
    "BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n",
    "EXIT CODE: ",
    "Fatal error in internal_Allreduce",
    "*** An error occurred in MPI_Bcast\n",
    "world_size=",
    "timeout=",
    "Timed out initializing process group",
    "wait timeout after ",
    "ms, keys: ",
    "Process 12: python\n",
    "Thread 12 (idle): \"\"\n",
    "    f (x:1)\n",
    "Current thread 0x1 (most recent call first):\n",
    "#0-0 (1f) MISMATCH\n",
    "  Communicator ranks have different AllReduce operation counts\n",
    "  3 ranks have launched up to operation ",
    "  Rank 1 has launched up to operation ",
    "{\n\"nccl_version\": \"",
    "{\"communicators\": [",
    "}",
    "]",
    "99999999999999999999",
    "9223372036854775807",
    "-9223372036854775808",
    "-1",
    "0-99999999",
    "\x1b[",
    "\x1b]",
    "\r",
    "\n",
    " ",
    "\xff\xfe",
    "\xc3",
    "srun: error: n1: tasks ",
    "exits with return code = ",
    "Stack trace of the failed collective: \n",
    "#0 f from x:1\n",
    " comm 0x1 rank ",
    " nranks ",
    " - Init COMPLETE\n",
    "h:1:2 [0] NCCL INFO",
    ", ",
    "(",
    ")",
    "[",
    ":",
    "\"",
    "\\",
    "T",
};

TEST(Hostile, PiecesInAnyOrder) {
  std::mt19937 random(20'261'128);
  for (int round = 0; round < 400; ++round) {
    std::string text;
    for (int i = 0; i < 120; ++i) {
      text += kPieces[random() % std::size(kPieces)];
      if (random() % 4 == 0)
        text += std::to_string(static_cast<int64_t>(uint64_t{random()} << 32 | random()));
    }
    for (const Clue& clue : clues_of(text)) {
      EXPECT_LE(clue.text.size(), 400u);
      EXPECT_GE(clue.rank, -1);
      EXPECT_GT(clue.line, 0u);
    }
  }
}

TEST(Hostile, RandomBytes) {
  std::mt19937 random(1);
  std::string text(1 << 20, '\0');
  for (char& c : text) c = static_cast<char>(random());
  EXPECT_TRUE(clues_of(text).empty());
}

TEST(Hostile, CutAnywhere) {
  const std::string message =
      "[rank1]:[E626 06:24:44.9 P.cpp:616] [PG ID 2 PG GUID 9(x) Rank 1] Watchdog caught collective "
      "operation timeout: "
      "WorkNCCL(SeqNum=808, OpType=ALLREDUCE, NumelIn=98, NumelOut=98, Timeout(ms)=600000) ran for 600020 "
      "milliseconds";
  for (size_t size = 0; size < message.size(); ++size) {
    const std::vector<Clue> clues = clues_of(message.substr(0, size));
    ASSERT_LE(clues.size(), 1u);
    for (const Clue& clue : clues) EXPECT_EQ(clue.rank, 1);
  }
}

TEST(Hostile, HugeNumbersAreNoNumbers) {
  const Clue clue = clue_of(
      "[Rank 99999999999999999999] Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum=18446744073709551615, "
      "OpType=ALLREDUCE, TensorShape=[4294967296, 4294967296, 8], Timeout(ms)=-1) ran for 9 milliseconds");
  EXPECT_EQ(clue.rank, -1);
  EXPECT_EQ(clue.seq, -1);
  EXPECT_EQ(clue.numel_in, -1);
  EXPECT_TRUE(clues_of("srun: error: n: tasks 0-99999999999: Killed\n").empty());
}

TEST(Hostile, LongLineIsCut) {
  std::string text = "[rank2]: Timed out waiting 5ms for recv operation to complete ";
  text += std::string(10'000'000, '[');
  text += "\nTimed out waiting 6ms for send operation to complete\n";
  const LogClues clues = read_text(text);
  ASSERT_EQ(clues.clues.size(), 2u);
  EXPECT_EQ(clues.clues[0].limit_ms, 5);
  EXPECT_EQ(clues.clues[0].rank, 2);
  EXPECT_LE(clues.clues[0].text.size(), 400u);
  EXPECT_EQ(clues.clues[1].line, 2u);
  EXPECT_EQ(clues.lines, 2u);
}

TEST(Hostile, LongLinesFullOfOpenings) {
  for (const char* const piece :
       {"\x1b", "\x1b]", "\x1b[3", "[rank", "[1,", "Rank ", "(Timed out waiting ", "NCCL WARN ", "a: 1 b"}) {
    std::string text;
    while (text.size() < kLongestLine) text += piece;
    read_text(text + " NCCL WARN x");
  }
}

TEST(Hostile, AMillionEqualLines) {
  const std::string line = "[rank1]: Timed out waiting 5ms for recv operation to complete\n";
  std::string text;
  text.reserve(line.size() * 1'000'000);
  for (int i = 0; i < 1'000'000; ++i) text += line;
  const LogClues clues = read_text(text);
  ASSERT_EQ(clues.clues.size(), 1u);
  EXPECT_EQ(clues.clues[0].times, 1'000'000u);
  EXPECT_EQ(clues.left_out, 0u);
  EXPECT_EQ(clues.lines, 1'000'000u);
}

TEST(Hostile, CluesBeyondTheMostAreCounted) {
  std::string text;
  for (size_t i = 0; i < kMostClues + 5; ++i)
    text += "Timed out waiting " + std::to_string(i) + "ms for recv operation to complete\n";
  const LogClues clues = read_text(text);
  EXPECT_EQ(clues.clues.size(), kMostClues);
  EXPECT_EQ(clues.left_out, 5u);
}

TEST(Hostile, MessageThatNeverEnds) {
  std::string text = "Process 1: python\nThread 1 (idle): \"MainThread\"\n";
  for (int i = 0; i < 200'000; ++i) text += "    f (x:1)\n";
  text += "Root Cause (first observed failure):\n[0]:\n  rank      : 1 (local_rank: 1)\n";
  for (int i = 0; i < 5'000; ++i) text += "  traceback\n";
  text += "{\n\"nccl_version\": 1,\n";
  for (int i = 0; i < 100'000; ++i) text += "{[\n";
  const std::vector<Clue> clues = of_kind(clues_of(text), ClueKind::kStack);
  ASSERT_EQ(clues.size(), 1u);
  EXPECT_EQ(clues[0].frames.size(), 64u);
}

class Folder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "logs-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    for (const char* const name : {"/job.log", "/rank_4.log.gz"}) ::unlink((folder_ + name).c_str());
    ::rmdir(folder_.c_str());
  }
  std::string folder_;
};

TEST_F(Folder, GzipIsReadAndItsDamageIsSaid) {
  const std::string path = folder_ + "/rank_4.log.gz";
  const gzFile file = ::gzopen(path.c_str(), "wb");
  const std::string line = "Timed out waiting 5ms for recv operation to complete\n";
  for (int i = 0; i < 200'000; ++i) ::gzwrite(file, line.data(), static_cast<unsigned>(line.size()));
  ::gzclose(file);
  Result<LogClues> clues = read_log(path);
  ASSERT_TRUE(clues.ok()) << clues.error().to_string();
  ASSERT_EQ(clues->clues.size(), 1u);
  EXPECT_EQ(clues->clues[0].times, 200'000u);
  EXPECT_EQ(clues->clues[0].rank, 4);
  EXPECT_EQ(clues->clues[0].file, path);
  EXPECT_EQ(clues->cut_short, "");
  ASSERT_EQ(::truncate(path.c_str(), 10'000), 0);
  clues = read_log(path);
  ASSERT_TRUE(clues.ok());
  EXPECT_EQ(clues->clues.size(), 1u);
  EXPECT_NE(clues->cut_short.find("gzip: ends in the middle"), std::string::npos);
}

TEST_F(Folder, ProgressIsReported) {
  const std::string path = folder_ + "/job.log";
  {
    std::ofstream file(path);
    const std::string line(1023, 'x');
    for (int i = 0; i < 70 * 1024; ++i) file << line << '\n';
  }
  std::vector<uint64_t> reports;
  uint64_t all = 0;
  const Result<LogClues> clues = read_log(path, [&](uint64_t done, uint64_t total) {
    reports.push_back(done);
    all = total;
  });
  ASSERT_TRUE(clues.ok());
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_GE(reports[0], uint64_t{64} << 20);
  EXPECT_EQ(all, uint64_t{70} << 20);
}

TEST_F(Folder, OtherThanFilesAreRefused) {
  EXPECT_FALSE(read_log(folder_).ok());
  EXPECT_FALSE(read_log(folder_ + "/none.log").ok());
}

}  // namespace
}  // namespace rankfault
