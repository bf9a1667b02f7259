// python_test: against Python's own pickle, and against PyTorch's own analyser and recorder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "harness/flight_recorder/read_dumps.h"
#include "harness/flight_recorder/write_dump.h"
#include "samples.h"
#include "tests/support/tool.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Ran {
  int status = -1;
  std::string output;  // stdout and stderr
};

Ran run(const std::string& command) {
  Ran ran;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return ran;
  char buffer[4096];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) ran.output.append(buffer, count);
  const int status = ::pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

TEST(PythonPickle, EveryProtocolOfPythonIsRead) {
  if (!test::have_program("python3")) GTEST_SKIP() << "no python3";
  const test::Scratch folder;
  ASSERT_TRUE(write_dump(folder.path(), "_dump_", sample_dump(0)).ok());
  // the memo of Python's pickler holds each container; json does not share values
  const std::string script =
      folder.write("again.py",
                   "import pickle, json, sys, collections\n"
                   "d = pickle.load(open(sys.argv[1] + '/_dump_0', 'rb'))\n"
                   "for p in range(6):\n"
                   "    pickle.dump(d, open(f'{sys.argv[1]}/p_{p}', 'wb'), protocol=p)\n"
                   "d['entries'] = d['entries'] * 900 + json.loads(json.dumps(d['entries'])) * 900\n"
                   "pickle.dump(d, open(f'{sys.argv[1]}/many_6', 'wb'))\n"
                   "d['entries'] = collections.OrderedDict()\n"
                   "pickle.dump(d, open(f'{sys.argv[1]}/code_7', 'wb'))\n");
  const Ran ran = run("python3 " + script + " " + folder.path());
  ASSERT_EQ(ran.status, 0) << ran.output;
  for (int protocol = 0; protocol < 6; ++protocol) {
    const Result<FrDump> dump = read_dump({folder.file("p_" + std::to_string(protocol)), "", protocol, ""});
    ASSERT_TRUE(dump.ok()) << protocol << ": " << dump.error().message;
    expect_equal(*dump, sample_dump());
  }
  const Result<FrDump> many = read_dump({folder.file("many_6"), "", 6, ""});
  ASSERT_TRUE(many.ok()) << many.error().message;
  ASSERT_EQ(many->entries.size(), 5400u);
  for (size_t i = 0; i < many->entries.size(); ++i)
    expect_equal(many->entries[i], sample_dump().entries[i % 3]);
  const Result<FrDump> code = read_dump({folder.file("code_7"), "", 7, ""});
  ASSERT_FALSE(code.ok());
  EXPECT_THAT(code.error().message, HasSubstr("STACK_GLOBAL"));
}

class Analyser : public ::testing::Test {
 protected:
  void SetUp() override {
    python_ = test::python();
    if (python_.empty()) GTEST_SKIP() << "no PyTorch 2 (RANKFAULT_PYTHON)";
    if (run(python_ + " -c 'import torch.distributed.flight_recorder.fr_trace'").status != 0)
      GTEST_SKIP() << "this PyTorch has no analyser";
  }
  // Writes the dump of a rank that made `calls` all-reduces on the world of two.
  void write(int64_t rank, int64_t calls) {
    FrDump dump;
    dump.rank = rank;
    dump.groups = {{"0", "0", "default_pg", {0, 1}}};
    dump.status = {{0, calls, -1, calls}};
    for (int64_t i = 0; i < calls; ++i) {
      dump.entries.push_back(sample_entry(i));
      dump.entries.back().input_sizes = dump.entries.back().output_sizes = {{4}};
      dump.entries.back().input_dtypes = dump.entries.back().output_dtypes = {"Float"};
    }
    dump.side = FrSide{rank, "here", 0, -1, 0};
    ASSERT_TRUE(write_dump(folder_.path(), "_dump_", dump).ok());
  }
  Ran analyse() {
    return run(python_ + " -m torch.distributed.flight_recorder.fr_trace " + folder_.path() + " -o " +
               out_.file("db"));
  }
  size_t collectives() {
    const Ran ran = run(python_ + " -c \"import pickle; print('n =', len(pickle.load(open('" +
                        out_.file("db") + "', 'rb'))[1].collectives))\"");
    const size_t at = ran.output.find("n = ");
    return at == ran.output.npos ? 9999 : std::strtoul(ran.output.c_str() + at + 4, nullptr, 10);
  }
  std::string python_;
  test::Scratch folder_, out_;
};

TEST_F(Analyser, TakesOurDumpsAndMatchesTheirCalls) {
  write(0, 3);
  write(1, 3);
  const Ran ran = analyse();
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, Not(HasSubstr("missing ranks")));
  EXPECT_EQ(collectives(), 3u);
}

TEST_F(Analyser, FindsTheRankThatOurDumpLeavesOut) {
  write(0, 3);
  write(1, 2);
  const Ran ran = analyse();
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("missing ranks: {1}"));
}

TEST_F(Analyser, WhatPyTorchsOwnRecorderWritesIsRead) {
  const std::string script = out_.write(
      "job.py",
      "import pickle, time, torch, torch.distributed as dist, sys\n"
      "from torch._C import _distributed_c10d as c\n"
      "f = sys.argv[1]\n"
      "dist.init_process_group('gloo', init_method='file://' + f + '/../store_' + str(id(f)),\n"
      "                        rank=0, world_size=1)\n"
      "t = torch.ones(4)\n"
      "dist.all_reduce(t); dist.broadcast(t, 0); dist.barrier()\n"
      // The worker retires a call after its caller has continued.
      "while not all(e['retired'] for e in pickle.loads(c._dump_fr_trace(True, True, False))['entries']):\n"
      "  time.sleep(0.01)\n"
      "open(f + '/g_0', 'wb').write(c._dump_fr_trace(True, True, False))\n"
      "j = c._dump_fr_trace_json(True, False)\n"
      "open(f + '/j_1', 'wb').write(j if isinstance(j, bytes) else j.encode())\n"
      "dist.destroy_process_group()\n");
  std::filesystem::create_directory(folder_.file("dumps"));
  const Ran ran = run("TORCH_FR_BUFFER_SIZE=100 " + python_ + " " + script + " " + folder_.file("dumps"));
  if (ran.status != 0) GTEST_SKIP() << "this PyTorch records no Gloo calls: " << ran.output;
  const Result<FrDumps> all = read_dumps({folder_.file("dumps")});
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->dumps.size(), 2u);
  EXPECT_TRUE(all->evidence.empty());
  for (const FrDump& dump : all->dumps) {
    EXPECT_EQ(dump.backend, FrBackend::kGloo);
    ASSERT_EQ(dump.entries.size(), 3u);
    EXPECT_EQ(dump.entries[0].profiling_name, "gloo:all_reduce");
    EXPECT_THAT(dump.entries[0].input_sizes, ::testing::ElementsAre(::testing::ElementsAre(4)));
    EXPECT_GT(dump.entries[0].time_created_ns, 0);
  }
  expect_equal(all->dumps[0], all->dumps[1], false);
  ASSERT_TRUE(all->dumps[0].entries[0].frames);
  EXPECT_EQ(all->dumps[0].entries[0].frames->front()->name, "all_reduce");
}

}  // namespace
}  // namespace rankfault::testing
