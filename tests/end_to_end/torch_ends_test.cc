// torch_ends_test: the ways in which a rank of a PyTorch job ends, told apart: an exception, sys.exit, a
// signal, the out-of-memory killer. All runs are real torchrun jobs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class TorchEnds : public testing::Test {
 protected:
  void SetUp() override {
    if (python().empty()) GTEST_SKIP() << "no recorded PyTorch (RANKFAULT_PYTHON)";
    ::setenv("OMP_NUM_THREADS", "1", 1);
  }

  // `end`: the body of fail(), from line 7 on, which rank 1 calls. Rank 0 sleeps until torchrun ends it: in a
  // call, it would see rank 1 go, and might end first.
  std::string job(const std::string& end) const {
    return scratch_.write("train.py",
                          "import ctypes, faulthandler, os, sys, time\n"
                          "import torch\n"
                          "import torch.distributed as dist\n"
                          "from torch.distributed.elastic.multiprocessing.errors import record\n"
                          "\n"
                          "def fail():\n" +
                              end +
                              "\n"
                              "@record\n"
                              "def main():\n"
                              "    dist.init_process_group('gloo')\n"
                              "    dist.all_reduce(torch.ones(1))\n"
                              "    if dist.get_rank() == 1: fail()\n"
                              "    time.sleep(60)\n"
                              "\n"
                              "main()\n");
  }

  // torchrun itself: each rank has a log of its own.
  ToolRun watch(const std::string& script) const {
    std::vector<std::string> args{"watch", "--run-dir", run_dir(), "--"};
    for (const std::string& word : torchrun()) args.push_back(word);
    args.insert(args.end(), {"--standalone", "--nproc_per_node=2", script});
    return run_tool(args);
  }
  // `around`: a shell command in which JOB is the job's own.
  ToolRun watch(const std::string& script, const std::string& around) const {
    std::string words;
    for (const std::string& word : torchrun()) words += word + " ";
    std::string line = around;
    line.replace(line.find("JOB"), 3, words + "--standalone --nproc_per_node=2 " + script);
    return run_tool({"watch", "--run-dir", run_dir(), "--", "sh", "-c", line});
  }
  // The finding about rank 1.
  Json finding() const {
    for (const Json& one : findings_of(run_dir()))
      if (one.at("ranks") == Json::array({1}) && one.at("kind") != "missing_call") return one;
    return Json::object({{"text", "none"}, {"kind", "none"}, {"evidence", Json::array()}});
  }
  std::string text() const { return finding().at("text"); }
  std::string run_dir() const { return scratch_.file("run"); }

  Scratch scratch_;
};

// With its output thrown away, only torchrun's error file has the exception. The rank destroys its group
// first: PyTorch may abort a process that raises with one (docs/found.md).
TEST_F(TorchEnds, AnExceptionIsInTorchrunsErrorFile) {
  const ToolRun tool =
      watch(job("    dist.destroy_process_group(); raise ValueError('no label')\n"), "JOB >/dev/null 2>&1");
  EXPECT_THAT(text(), HasSubstr("rank 1 exited with 1")) << tool.output;
  EXPECT_THAT(text(),
              HasSubstr("its last exception is ValueError: no label, raised in fail() at train.py:7"));
}

TEST_F(TorchEnds, SysExitIsNoException) {
  const ToolRun tool = watch(job("    dist.destroy_process_group(); sys.exit(3)\n"));
  EXPECT_THAT(text(), HasSubstr("rank 1 exited with 3")) << tool.output;
  EXPECT_THAT(text(), Not(HasSubstr("exception")));
}

TEST_F(TorchEnds, AFatalSignalHasTheLineThatFaulthandlerWrote) {
  const ToolRun tool = watch(job("    ctypes.string_at(0)\n"));
  EXPECT_THAT(text(), HasSubstr("rank 1 was ended by SIGSEGV")) << tool.output;
  EXPECT_THAT(text(), HasSubstr("; its last Python line is ")) << tool.output;
  EXPECT_THAT(text(), HasSubstr("fail() at train.py:7"));
}

// The kernel's own out-of-memory killer, in a memory group of this test.
class MemoryGroup {
 public:
  MemoryGroup() {
    const std::string name = fmt::format("rankfault-test-{}", ::getpid());
    for (const std::string& parent : {std::string("/sys/fs/cgroup/memory"), std::string("/sys/fs/cgroup")}) {
      const std::string path = parent + "/" + name;
      std::error_code no;
      if (!fs::create_directory(path, no)) continue;
      path_ = path;
      const bool v1 = write(path + "/memory.limit_in_bytes", "1500M");
      if (v1 || write(path + "/memory.max", "1500M")) {
        write(path + (v1 ? "/memory.memsw.limit_in_bytes" : "/memory.swap.max"), v1 ? "1500M" : "0");
        return;
      }
      fs::remove(path, no);
      path_.clear();
    }
  }
  ~MemoryGroup() {
    if (!path_.empty()) ::rmdir(path_.c_str());
  }
  const std::string& path() const { return path_; }  // "": this machine does not let the test make one

 private:
  static bool write(const std::string& file, const std::string& text) {
    if (!fs::exists(file)) return false;
    std::ofstream out(file);
    out << text << std::flush;
    return out.good();
  }
  std::string path_;
};

TEST_F(TorchEnds, TheOutOfMemoryKillerIsToldFromAnotherSigkill) {
  const MemoryGroup group;
  if (group.path().empty()) GTEST_SKIP() << "cannot make a memory cgroup: needs root and its controller";
  const std::string inside = "echo $$ > " + group.path() + "/cgroup.procs; exec JOB";
  const ToolRun killed = watch(job("    os.kill(os.getpid(), 9)\n"), inside);
  EXPECT_THAT(text(), HasSubstr("rank 1 was ended by SIGKILL")) << killed.output;
  EXPECT_THAT(text(), Not(HasSubstr("out of memory")));
  fs::remove_all(run_dir());
  const ToolRun tool =
      watch(job("    kept = []\n    while True: kept.append(bytearray(b'x' * (32 << 20)))\n"), inside);
  EXPECT_THAT(text(), HasSubstr("rank 1 was ended by SIGKILL (probably out of memory)")) << tool.output;
  EXPECT_THAT(finding().at("evidence").dump(), HasSubstr(fs::path(group.path()).filename().string()));
}

}  // namespace
}  // namespace rankfault::test
