// jobs_test: jobs as other people write them, on PyTorch's own nccl backend over the double of CUDA: a
// healthy one has no finding at all, and one with a bug is named while it hangs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Job {
  std::string name, script;
  int ranks = 0;
  std::string package;                // of PyPI; "": none beside PyTorch
  std::string bug, finding, at;       // what watch prints about the bug
  std::vector<std::string> launcher;  // empty: torchrun
};

void PrintTo(const Job& job, std::ostream* out) { *out << job.name; }

const std::vector<Job> kJobs = {
    {"TensorParallel",
     "tensor_parallel.py",
     4,
     "",
     "--bug=no-clipping",
     "no rank blamed, all_reduce on size 2 of ranks 1 3",
     "rank 1: all_reduce float32 x 1 sum on size 2 of ranks 1 3, call 23 at Training.mean_loss()",
     {}},
    {"MixedPrecision",
     "mixed_precision.py",
     3,
     "",
     "--bug=barrier",
     "rank 1, all_reduce on world, call 9",
     "rank 1: all_reduce float32 x 1 sum on world, call 9 at Training.step() at mixed_precision.py:",
     {}},
    {"ByCtypes",
     "by_ctypes.py",
     3,
     "",
     "--bug=other-size",
     "rank 1, all_reduce on world, call 8, proven",
     "call 8 at Communicator.sum() at by_ctypes.py:",
     {}},
    {"Trainer",
     "trainers/hf_trainer.py",
     3,
     "transformers",
     "--bug=skips-evaluation",
     "missing_call: rank 1, all_gather on world",
     "at main() at hf_trainer.py:",
     {}},
    {"Accelerate",
     "trainers/accelerate_loop.py",
     3,
     "accelerate",
     "--bug=gathers-alone",
     "call_mismatch: rank 1, all_gather on world",
     "at Training.epoch() at accelerate_loop.py:",
     {"accelerate", "launch", "--multi_gpu", "--num_machines=1", "--mixed_precision=no",
      "--dynamo_backend=no", "--num_processes=3"}},
    {"Lightning",
     "trainers/lightning_fit.py",
     3,
     "lightning",
     "--bug=logs-alone",
     "missing_call: rank 1, all_reduce on world",
     "at main() at lightning_fit.py:",
     {}},
};

// Returns why the job cannot run here; else the tool finds its launcher.
std::string missing(const std::string& package) {
  const std::string python = read_file(build_dir() + "/lib/cuda_double/torch/python");
  if (python.empty() || !std::filesystem::exists(python)) return "./dev torch-nccl was not run";
  const std::string find = "import importlib.util as u, sys; sys.exit(not u.find_spec('" + package + "'))";
  if (!package.empty() && std::system(fmt::format("{} -c \"{}\"", python, find).c_str()) != 0)
    return "the trainer " + package + " is not installed";
  const std::string bin = std::filesystem::path(python).parent_path();
  ::setenv("PATH", (bin + ":" + std::getenv("PATH")).c_str(), 1);
  ::setenv("OMP_NUM_THREADS", "1", 1);
  return "";
}

std::string workload(const std::string& script) { return source_dir() + "/workloads/pytorch_nccl/" + script; }

// A rank may start late on a machine that is busy, and must not be called slow for it.
std::vector<std::string> watch(const Job& job, const std::string& run_dir) {
  std::vector<std::string> words{"watch",   "--cuda", "double",       "--run-dir", run_dir,
                                 "--after", "60s",    "--hung-after", "90s",       "--"};
  std::vector<std::string> launcher = job.launcher;
  if (launcher.empty())
    launcher = {"torchrun", "--standalone", fmt::format("--nproc-per-node={}", job.ranks)};
  words.insert(words.end(), launcher.begin(), launcher.end());
  words.push_back(workload(job.script));
  return words;
}

class TorchNcclJobs : public testing::TestWithParam<Job> {};

TEST_P(TorchNcclJobs, AHealthyOneHasNoFinding) {
  if (const std::string why = missing(GetParam().package); !why.empty()) GTEST_SKIP() << why;
  const Scratch scratch;
  const ToolRun tool = run_tool(watch(GetParam(), scratch.file("run")));
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("found   none: nothing was found wrong"));
  EXPECT_THAT(tool.output, Not(HasSubstr("withdrawn")));
}

TEST_P(TorchNcclJobs, ABugIsNamedWhileItHangs) {
  if (const std::string why = missing(GetParam().package); !why.empty()) GTEST_SKIP() << why;
  const Scratch scratch;
  const std::string output = scratch.file("output");
  std::vector<std::string> words = watch(GetParam(), scratch.file("run"));
  words.insert(words.end(), {GetParam().bug, "--by=1"});
  const int pid = start_tool(words, output);
  int status = 0;
  bool ended = false;
  while (!ended && read_file(output).find(GetParam().finding) == std::string::npos) {
    // The state is a text in a file of another process, which signals nothing. ctest bounds the wait.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ended = ::waitpid(pid, &status, WNOHANG) != 0;
  }
  if (!ended && ::kill(pid, SIGTERM) == 0) ::waitpid(pid, &status, 0);
  EXPECT_THAT(read_file(output), HasSubstr(GetParam().finding));
  EXPECT_THAT(read_file(output), HasSubstr(GetParam().at));
}

TEST(TorchNcclJob, RunsUnderRunToo) {
  if (const std::string why = missing(""); !why.empty()) GTEST_SKIP() << why;
  const Scratch scratch;
  const ToolRun tool = run_tool({"run", "--cuda", "double", "--launcher", "torchrun", "--ranks", "4",
                                 "--run-dir", scratch.file("run"), "--", workload("tensor_parallel.py")});
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("found   none: nothing was found wrong"));
}

INSTANTIATE_TEST_SUITE_P(OfOtherPeople, TorchNcclJobs, testing::ValuesIn(kJobs),
                         [](const testing::TestParamInfo<Job>& job) { return job.param.name; });

}  // namespace
}  // namespace rankfault::test
