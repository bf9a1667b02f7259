// torch_inputs_test: PyTorch as it should not be: not there, without distributed, there twice, with a
// stripped Python, on a read-only file system. A job that runs without rankfault runs with it, and rankfault
// says what it cannot see.
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

constexpr const char* kNoTorch = "no recorded PyTorch (RANKFAULT_PYTHON)";
constexpr const char* kJob = R"py(import torch
import torch.distributed as dist

def step():
    dist.all_reduce(torch.ones(1))

dist.init_process_group('gloo')
step()
if dist.get_rank() == 0:
    step()
dist.barrier()
)py";

std::string answer_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  for (int c; pipe && (c = ::fgetc(pipe)) != EOF;)
    if (c != '\n') text += static_cast<char>(c);
  if (pipe) ::pclose(pipe);
  return text;
}

class TorchInputs : public testing::Test {
 protected:
  void SetUp() override { ::setenv("OMP_NUM_THREADS", "1", 1); }

  // An environment of `python` whose interpreter sees only what the test puts there.
  std::string environment(const std::string& python) const {
    const std::string folder = scratch_.file("env");
    EXPECT_EQ(std::system((python + " -m venv --without-pip " + folder).c_str()), 0);
    return folder;
  }
  ToolRun watch(const std::vector<std::string>& job,
                const std::map<std::string, std::string>& env = {}) const {
    std::vector<std::string> args{
        "watch", "--run-dir", scratch_.file("run"), "--end-on-finding", "--hung-after", "4s", "--"};
    args.insert(args.end(), job.begin(), job.end());
    return run_tool(args, env);
  }
  // kJob by `python`, whose torchrun is a module.
  ToolRun watch_job(const std::string& python, const std::map<std::string, std::string>& env = {}) const {
    std::vector<std::string> words{python};
    const std::vector<std::string> own = torchrun();
    words.insert(words.end(), own.begin() + 1, own.end());
    words.insert(words.end(), {"--standalone", "--nproc_per_node=2", scratch_.write("train.py", kJob)});
    return watch(words, env);
  }
  void expect_the_line(const ToolRun& tool) const {
    EXPECT_THAT(tool.output, HasSubstr("step() at train.py:5, called from train.py:10")) << tool.output;
  }
  // Where the PyTorch of python() lies.
  static std::string site_packages() {
    const char* script = "import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))";
    return answer_of(fmt::format("{} -c '{}'", python(), script));
  }

  Scratch scratch_;
};

TEST_F(TorchInputs, WithoutTorchTheScenarioIsSkippedAndSaysWhichPythonHasNone) {
  const std::string bare = environment("python3") + "/bin/python3";
  const std::string file = scratch_.write(
      "job.yaml",
      "version: 1\nname: job\nworkload:\n  launcher: torchrun\n  ranks: 2\n  command: [train.py]\n"
      "faults:\n  - {id: kill, kind: rank_kill, ranks: [1], at: {op: all_reduce}}\n"
      "expect:\n  - left_nothing\n");
  const ToolRun tool =
      run_tool({"run", file, "--run-dir", scratch_.file("run")}, {{"RANKFAULT_PYTHON", bare}});
  EXPECT_EQ(tool.status, 77) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr(bare + " (RANKFAULT_PYTHON) has no torch"));
}

TEST_F(TorchInputs, WithoutTorchAWatchedScriptFailsWithItsOwnWords) {
  const std::string bare = environment("python3") + "/bin/python3";
  const ToolRun tool = watch({bare, scratch_.write("train.py", kJob)});
  EXPECT_THAT(tool.output, HasSubstr("No module named 'torch'"));
  EXPECT_THAT(tool.output, HasSubstr("exit 1"));
}

// PyTorch built with USE_DISTRIBUTED=0 (macOS, Jetson): its Python part is there, and says that it cannot.
TEST_F(TorchInputs, ATorchWithoutDistributedIsAProgramLikeAnother) {
  const std::string folder = scratch_.file("site");
  fs::create_directories(folder + "/torch/distributed");
  std::ofstream(folder + "/torch/__init__.py") << "__version__ = '2.13.0'\n";
  std::ofstream(folder + "/torch/distributed/__init__.py") << "def is_available(): return False\n";
  const std::string script =
      scratch_.write("train.py", "import torch.distributed as d\nprint('distributed:', d.is_available())\n");
  const ToolRun tool = watch({"python3", script}, {{"PYTHONPATH", folder}});
  EXPECT_EQ(tool.status, 2) << "rankfault cannot say anything about it\n" << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("distributed: False"));
  EXPECT_THAT(tool.output, HasSubstr("rankfault recorded no rank of the job"));
}

// The version counts that the loaded library has, not one that a second installation names.
TEST_F(TorchInputs, OfTwoTorchesTheLoadedOneCounts) {
  if (python().empty()) GTEST_SKIP() << kNoTorch;
  const std::string info = scratch_.file("site") + "/torch-9.9.9.dist-info";
  fs::create_directories(info);
  std::ofstream(info + "/METADATA") << "Metadata-Version: 2.1\nName: torch\nVersion: 9.9.9\n";
  expect_the_line(watch_job(python(), {{"PYTHONPATH", scratch_.file("site")}}));
}

TEST_F(TorchInputs, AStrippedPythonShowsTheLines) {
  if (python().empty()) GTEST_SKIP() << kNoTorch;
  const std::string real =
      answer_of(python() + " -c 'import os,sys; print(os.path.realpath(sys.executable))'");
  const std::string site = site_packages();
  const std::string folder = environment(real);
  const std::string stripped = folder + "/bin/" + fs::path(real).filename().string();
  fs::remove(stripped);
  ASSERT_EQ(std::system(("strip --strip-all -o " + stripped + " " + real).c_str()), 0);
  expect_the_line(watch_job(stripped, {{"PYTHONPATH", site}}));
}

// Containers have the site-packages of their image read-only. rankfault writes nothing there.
TEST_F(TorchInputs, AReadOnlySitePackages) {
  if (python().empty()) GTEST_SKIP() << kNoTorch;
  const std::string site = site_packages();
  const std::string read_only = fmt::format("mount --bind {0} {0} && mount -o remount,ro,bind {0}", site);
  if (std::system(("unshare -m sh -c '" + read_only + "' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "cannot make a read-only mount: needs root with CAP_SYS_ADMIN";
  std::string words;
  for (const std::string& word : torchrun()) words += word + " ";
  const std::string script = scratch_.write("train.py", kJob);
  const std::string line = fmt::format(
      "{} && ! touch {}/x 2>/dev/null && exec {} watch --run-dir {} --end-on-finding --hung-after 4s "
      "-- {} --standalone --nproc_per_node=2 {}",
      read_only, site, build_dir() + "/bin/rankfault", scratch_.file("run"), words, script);
  ToolRun tool;
  tool.output = answer_of("unshare -m sh -c '" + line + "' 2>&1");
  expect_the_line(tool);
}

}  // namespace
}  // namespace rankfault::test
