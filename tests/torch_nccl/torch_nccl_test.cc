// torch_nccl_test: PyTorch's own nccl backend over the double of CUDA: real torchrun jobs under `run` and
// `watch`.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/backends/torch_nccl/over_double.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

class TorchNccl : public testing::Test {
 protected:
  void SetUp() override {
    python_ = torch_nccl_python();
    if (python_.empty()) GTEST_SKIP() << kNoTorchNccl;
    ::setenv("OMP_NUM_THREADS", "1", 1);
  }
  static std::string workload(const std::string& script) {
    return source_dir() + "/workloads/pytorch_nccl/" + script;
  }
  static std::string own(const std::string& script) { return source_dir() + "/tests/torch_nccl/" + script; }
  ToolRun run(const std::vector<std::string>& script,
              const std::map<std::string, std::string>& env = {}) const {
    std::vector<std::string> args{"run",     "--cuda", "double",    "--launcher", "torchrun",
                                  "--ranks", "2",      "--run-dir", run_dir(),    "--"};
    args.insert(args.end(), script.begin(), script.end());
    return run_tool(args, env);
  }
  ToolRun watch(const std::vector<std::string>& script, int ranks = 2,
                const std::map<std::string, std::string>& env = {}) const {
    std::vector<std::string> args{"watch", "--cuda", "double", "--run-dir", run_dir(), "--"};
    args.insert(args.end(), {"torchrun", "--standalone", fmt::format("--nproc-per-node={}", ranks)});
    args.insert(args.end(), script.begin(), script.end());
    return run_tool(args, env);
  }
  std::string log(int rank) const {
    return read_file(fmt::format("{}/logs/rank-{}.a0.log", run_dir(), rank));
  }
  std::string run_dir() const { return scratch_.file("run"); }

  std::string python_;
  Scratch scratch_;
};

TEST_F(TorchNccl, PyTorchImportsAndCopiesToItsDevices) {
  const char* program =
      "import torch\n"
      "assert torch.cuda.is_available() and torch.cuda.device_count() == 8\n"
      "x = torch.arange(10.).to('cuda:3')\n"
      "assert x.device.index == 3 and torch.equal(x.clone().cpu(), torch.arange(10.))\n";
  const ToolRun tool = run_tool(
      {"run", "--cuda", "double", "--ranks", "1", "--run-dir", run_dir(), "--", python_, "-c", program});
  EXPECT_THAT(tool.output, HasSubstr("rank 0 exited 0"));
}

TEST_F(TorchNccl, EveryCollectiveGivesTheRightValues) {
  const ToolRun tool = run({own("collectives.py")});
  EXPECT_EQ(tool.status, 0) << tool.output;
  for (int rank : {0, 1}) EXPECT_THAT(log(rank), HasSubstr(fmt::format("rank {}: 47 checks, 0 wrong", rank)));
}

TEST_F(TorchNccl, OverSocketsTooAndWithALazyGroup) {
  const ToolRun tool = run({own("collectives.py"), "--lazy"}, {{"NCCL_SHM_DISABLE", "1"}});
  EXPECT_EQ(tool.status, 0) << tool.output;
  for (int rank : {0, 1}) EXPECT_THAT(log(rank), HasSubstr(fmt::format("rank {}: 47 checks, 0 wrong", rank)));
}

TEST_F(TorchNccl, AHealthyDdpJobHasNoFinding) {
  const ToolRun tool = watch({workload("ddp.py")});
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("CUDA is a double"));
  EXPECT_THAT(tool.output, HasSubstr("found   none: nothing was found wrong"));
}

TEST_F(TorchNccl, AHealthyFsdpJobHasNoFinding) {
  const ToolRun tool = watch({workload("fsdp.py")});
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("found   none: nothing was found wrong"));
}

// Rank 1 leaves out its third sum of the loss: its next call on the communicator is DDP's sum of gradients.
TEST_F(TorchNccl, ALeftOutSumIsFoundWithRankOperationAndLine) {
  const ToolRun tool = watch({workload("ddp.py"), "--left-out-by=1", "--timeout=3"}, 3,
                             {{"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "200"}});
  EXPECT_EQ(tool.status, 1) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("found   missing_call: rank 1, all_reduce on world, call 11"));
  EXPECT_THAT(tool.output,
              HasSubstr("ranks 0 2: all_reduce float32 x 1 sum on world, call 11 at mean_loss() at ddp.py:"));
}

// A thread of autograd makes DDP's sums: it has no Python frames of its own.
TEST_F(TorchNccl, ALeftOutBackwardIsFoundWithItsLine) {
  const ToolRun tool =
      watch({own("no_backward.py"), "1"}, 2, {{"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "200"}});
  EXPECT_EQ(tool.status, 1) << tool.output;
  EXPECT_THAT(tool.output,
              HasSubstr("rank 0: all_reduce float32 x 90300 sum on world, call 14 "
                        "(DDP gradient bucket 1 of 2) at backward() in train() at no_backward.py:21"));
  EXPECT_THAT(tool.output, HasSubstr("rank 1: all_reduce float32 x 1 sum on world, call 14 at train() at "
                                     "no_backward.py:23"));
}

}  // namespace
}  // namespace rankfault::test
