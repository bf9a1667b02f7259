// log_lines_test: lines of a log, their prefixes, and the rank that a file's name gives.
#include "harness/reproduce/logs/log_lines.h"

#include <gtest/gtest.h>

#include "log_samples.h"

namespace rankfault {
namespace {

struct Prefix {
  const char* line;
  const char* text;
  int rank;
  bool is_local;
  const char* host;
  const char* time;
};

const Prefix kPrefixes[] = {
    {"plain text", "plain text", -1, false, "", ""},
    {"[rank3]: text", "text", 3, false, "", ""},
    {"[rank12]:   File \"x.py\"", "  File \"x.py\"", 12, false, "", ""},
    {"[default3]:text", "text", 3, true, "", ""},
    {"[trainer0]:[rank8]:[E1128 10:22:36.123456789 ProcessGroupNCCL.cpp:632] text", "text", 8, false, "",
     "1128 10:22:36.123456789"},
    {"[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] text", "[Rank 0] text", -1, false, "",
     "321 02:07:08.408271257"},
    {"[E ProcessGroupNCCL.cpp:475] [Rank 0] text", "[Rank 0] text", -1, false, "", ""},
    {"E1127 22:06:57.922000 4779 torch/distributed/elastic/api.py:988] text", "text", -1, false, "",
     "1127 22:06:57.922000"},
    {"[1,3]<stderr>:text", "text", 3, false, "", ""},
    {"[prterun-node-7-21034@1,13]<stdout>:text", "text", 13, false, "", ""},
    {"Fri Aug 11 12:31:45 2023[1,2]<stdout>:text", "text", 2, false, "", "Fri Aug 11 12:31:45 2023"},
    {"[3] text", "text", 3, false, "", ""},
    {" 3: text", "text", 3, false, "", ""},
    {"17: [rank17]: text", "text", 17, false, "", ""},
    {"node-17: text", "text", -1, false, "node-17", ""},
    {"host7 | text", "text", -1, false, "host7", ""},
    {"training/llm-worker-0: text", "text", -1, false, "training/llm-worker-0", ""},
    {"[pod/llm-worker-0/main] text", "text", -1, false, "pod/llm-worker-0/main", ""},
    {"(Worker pid=30332, ip=10.0.0.7) text", "text", -1, false, "10.0.0.7", ""},
    {"node-2: 5: [2025-01-02 03:04:05,678] text", "text", 5, false, "node-2", "2025-01-02 03:04:05,678"},
    {"2025-01-02T03:04:05.678Z text", "text", -1, false, "", "2025-01-02T03:04:05.678Z"},
    {"[2025-02-27T16:30:43.48675097Z] [rank3]: text", "text", 3, false, "", "2025-02-27T16:30:43.48675097Z"},
    {"[80746] [rank0]: text", "text", 0, false, "", ""},
    // None of these is a prefix.
    {"RuntimeError: text", "RuntimeError: text", -1, false, "", ""},
    {"python3: can't open file", "python3: can't open file", -1, false, "", ""},
    {"srun: error: node-3: task 17: Killed", "srun: error: node-3: task 17: Killed", -1, false, "", ""},
    {"[1]:", "[1]:", -1, false, "", ""},
    {"vm:4502:4592 [0] NCCL INFO text", "vm:4502:4592 [0] NCCL INFO text", -1, false, "", ""},
    {"[vm:26610] *** text", "[vm:26610] *** text", -1, false, "", ""},
    {"", "", -1, false, "", ""},
};

TEST(LogPrefixes, GiveRankHostAndTime) {
  for (const Prefix& sample : kPrefixes) {
    const LogLine line = log_line(sample.line, 7);
    EXPECT_EQ(line.text, sample.text) << sample.line;
    EXPECT_EQ(line.rank, sample.rank) << sample.line;
    EXPECT_EQ(line.rank_is_local, sample.is_local) << sample.line;
    EXPECT_EQ(line.host, sample.host) << sample.line;
    EXPECT_EQ(line.time, sample.time) << sample.line;
    EXPECT_EQ(line.number, 7u);
  }
}

TEST(LogControls, AreTakenOff) {
  const auto shown = [](std::string_view text) { return without_controls(text); };
  EXPECT_EQ(shown("\x1b[31;1mred\x1b[0m text"), "red text");
  EXPECT_EQ(shown("\x1b]0;title\atext"), "text");
  EXPECT_EQ(shown("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"), "link");
  EXPECT_EQ(shown("10%\r20%\rdone"), "done");
  EXPECT_EQ(shown("text\r"), "text");
  EXPECT_EQ(shown(std::string_view("a\0b\x01\x7f", 5)), "ab");
  EXPECT_EQ(shown("\ttab stays"), "\ttab stays");
  // One that never ends hides nothing.
  EXPECT_EQ(shown("\x1b]0;title text"), "0;title text");
  EXPECT_EQ(shown("\x1b[31"), "31");
  EXPECT_EQ(shown("text\x1b"), "text");
}

TEST(LogLines, CountAndCut) {
  const std::string text = "one\n\n" + std::string(3 * kLongestLine, 'x') + "\nlast";
  const std::unique_ptr<ByteSource> source = memory_source(text);
  LogLines lines(*source);
  std::vector<std::string> all;
  for (std::string_view line; lines.next(line);) all.emplace_back(line);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0], "one");
  EXPECT_EQ(all[1], "");
  EXPECT_EQ(all[2].size(), kLongestLine);
  EXPECT_EQ(all[3], "last");
  EXPECT_EQ(lines.number(), 4u);
  EXPECT_EQ(lines.bytes(), text.size());
}

TEST(LogName, GivesRankOnlyWhenCertain) {
  const auto rank = [](const char* path) { return log_rank_of_name(path).rank; };
  EXPECT_EQ(rank("logs/rank_3.log"), 3);
  EXPECT_EQ(rank("logs/rank-0.a0.log"), 0);
  EXPECT_EQ(rank("train_rank12_node4.log.gz"), 12);
  EXPECT_EQ(rank("run/rank3/stderr.log"), 3);
  EXPECT_EQ(rank("run/3.log"), 3);
  EXPECT_EQ(rank("run/attempt_0/3/stderr.log"), 3);
  EXPECT_TRUE(log_rank_of_name("run/attempt_0/3/stderr.log").is_local);
  EXPECT_FALSE(log_rank_of_name("run/rank3/stderr.log").is_local);
  // Counts of pods, jobs, array tasks and nodes; a number of ranks; a date.
  for (const char* path :
       {"worker-3.out", "slurm-1234_3.out", "slurm-1234.out", "local_rank_3.log", "ranks_8.log",
        "20250102.log", "node_rank_1.log", "crank3.log", "job.log", "", "/", "rank.log"})
    EXPECT_EQ(rank(path), -1) << path;
}

}  // namespace
}  // namespace rankfault
