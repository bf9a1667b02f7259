// torchrun_program_test: which torchrun is started, and with which words, for each version of PyTorch.
#include "harness/launch/launchers/torchrun_program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/launch/launcher.h"
#include "tests/launch/fixture.h"

namespace rankfault::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const Launcher& torchrun() { return *Catalog<Launcher>::instance().find("torchrun"); }

class TorchrunProgramTest : public GuardianTest {
 protected:
  void SetUp() override {
    GuardianTest::SetUp();
    for (const char* name : {"PATH", "RANKFAULT_PYTHON"})
      before_[name] = std::getenv(name) ? std::getenv(name) : "";
    ::unsetenv("RANKFAULT_PYTHON");
    ::setenv("PATH", (scratch_ / "bin").c_str(), 1);
    workload().ranks = 2;
    workload().launcher = LauncherKind::kTorchrun;
    workload().command = {"train.py"};
  }
  void TearDown() override {
    for (const auto& [name, value] : before_)
      value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
    GuardianTest::TearDown();
  }

  std::string script(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(scratch_ / "bin");
    const std::string path = scratch_ / ("bin/" + name);
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  // A Python that gives one answer: the version of its torch.
  std::string python(const std::string& version) const {
    return script("python3", "#!/bin/sh\nprintf " + version + "\n");
  }
  std::vector<std::string> words() {
    const LaunchContext context{plan_, *run_, 0, "/the/bin", "", {}};
    const auto items = torchrun().items(context);
    return items.ok() ? (*items)[0].command.argv : std::vector<std::string>{};
  }
  // The answer of a Python is remembered for each PATH.
  void forget() { ::setenv("PATH", (std::string(std::getenv("PATH")) + ":").c_str(), 1); }
  std::string missing() {
    const Status status = torchrun().probe(workload());
    if (status.ok()) return "";
    EXPECT_EQ(status.error().kind, ErrorKind::kMissing);
    return status.error().message;
  }
  Workload& workload() { return plan_.scenario.workload; }

  Plan plan_;
  std::map<std::string, std::string> before_;
};

TEST_F(TorchrunProgramTest, PyTorch1GetsOptionsThatItKnowsAndBothItsStreamsNamed) {
  ::setenv("RANKFAULT_PYTHON", python("1.13.1").c_str(), 1);
  for (const char* word : {"--nproc_per_node=2", "--redirects=2", "--tee=1"})
    EXPECT_THAT(words(), Contains(word));
  EXPECT_THAT(words(), Contains(testing::StartsWith("--log_dir=")));
}

TEST_F(TorchrunProgramTest, PyTorch2WritesBothStreamsToFiles) {
  ::setenv("RANKFAULT_PYTHON", python("2.13.0+cpu").c_str(), 1);
  EXPECT_THAT(words(), Contains("--redirects=3"));
  EXPECT_THAT(words(), Contains("--nproc_per_node=2"));
  EXPECT_THAT(words(), Not(Contains("--tee=1")));
}

TEST_F(TorchrunProgramTest, AScenarioAboutCallsNeedsAVersionWhoseCallsAreRecorded) {
  workload().needs = {"torch"};
  for (const char* known : {"1.13.1", "2.4.0", "2.13.0+cpu"}) {
    ::setenv("RANKFAULT_PYTHON", python(known).c_str(), 1);
    forget();
    EXPECT_EQ(missing(), "") << known;
  }
  for (const char* unknown : {"1.12.1", "2.3.1", "2.99.0"}) {
    python(unknown);
    forget();
    EXPECT_THAT(missing(), HasSubstr("PyTorch 1.13 or 2.4 to "));
    EXPECT_THAT(missing(), HasSubstr(std::string(" has ") + unknown + ", whose calls are not recorded"));
    EXPECT_THAT(missing(), HasSubstr("to add it: RANKFAULT_TORCH=torch==2.13.0 ./dev build"));
    EXPECT_THAT(torchrun().found({}), HasSubstr(": its calls are not recorded")) << "doctor says so";
  }
  workload().needs = {};
  EXPECT_EQ(missing(), "") << "the user's own job starts all the same";
}

TEST_F(TorchrunProgramTest, ABuildOfTheOlderAbiOfCppIsNotRecorded) {
  const std::string program = script("python3", "#!/bin/sh\nprintf '2.4.1+cu121 old'\n");
  ::setenv("RANKFAULT_PYTHON", program.c_str(), 1);
  EXPECT_EQ(missing(), "");
  workload().needs = {"torch"};
  EXPECT_THAT(missing(), HasSubstr("has 2.4.1+cu121 for the older C++ ABI, whose calls are not recorded"));
}

TEST_F(TorchrunProgramTest, AScenarioForPyTorch2IsSkippedWithPyTorch1) {
  ::setenv("RANKFAULT_PYTHON", python("1.13.1").c_str(), 1);
  workload().needs = {"torch2"};
  EXPECT_THAT(missing(), HasSubstr("PyTorch 2 is needed, but "));
  workload().needs = {"torch"};
  workload().nodes = 2;
  EXPECT_THAT(missing(), HasSubstr(" has 1.13.1, whose torchrun has no nodes"));
}

TEST_F(TorchrunProgramTest, ABuildOfDebianWhoseStoreCannotBeMadeIsMissing) {
  const auto debian = [&](const std::string& answer) {
    return script("python3", "#!/bin/sh\ncase \"$2\" in *TCPStore*) echo '" + answer +
                                 "';; *) printf 2.6.0+debian;; esac\n");
  };
  ::setenv("RANKFAULT_PYTHON", debian("use_libuv was requested but PyTorch was build without libuv").c_str(),
           1);
  EXPECT_THAT(missing(), HasSubstr("was built without libuv: its torchrun cannot start ranks"));
  ::setenv("PATH", (scratch_ / "bin/.").c_str(), 1);  // clears the remembered answer
  debian("");
  EXPECT_EQ(missing(), "");
}

TEST_F(TorchrunProgramTest, APythonWithoutTorchIsMissingByName) {
  const std::string program = python("none");
  ::setenv("RANKFAULT_PYTHON", program.c_str(), 1);
  EXPECT_THAT(missing(), HasSubstr(program + " (RANKFAULT_PYTHON) has no torch"));
}

TEST_F(TorchrunProgramTest, OverTheDoubleTheUsersPythonServesIfItsPyTorchIsBuiltWithCuda) {
  const std::string libraries = scratch_ / "torch/lib";
  std::filesystem::create_directories(libraries);
  const std::string program = script("python3", "#!/bin/sh\nprintf '2.12.1\\n" + libraries + "'\n");
  ::setenv("RANKFAULT_PYTHON", program.c_str(), 1);
  workload().needs = {"torch_cuda"};
  EXPECT_THAT(missing(), HasSubstr("PyTorch built with CUDA is needed, but " + program + " has 2.12.1"));
  EXPECT_THAT(missing(), HasSubstr("to add it: ./dev torch-nccl"));
  std::ofstream(libraries + "/libtorch_cuda.so") << "x";
  EXPECT_EQ(missing(), "");
  workload().cuda_double = true;
  EXPECT_EQ(missing(), "");
  EXPECT_EQ(words().front(), program);
}

TEST_F(TorchrunProgramTest, AModuleInTheUsersFolderDoesNotEndTheCheck) {
  if (::access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/python3";
  ::setenv("RANKFAULT_PYTHON", "/usr/bin/python3", 1);
  script("re.py", "raise SystemExit(1)\n");
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(scratch_ / "bin");
  const std::string found = missing();
  std::filesystem::current_path(here);
  EXPECT_THAT(found, Not(HasSubstr("cannot be run")));
}

// torchrun imports torch, which takes many seconds on a busy machine. The tool asks its Python instead.
TEST_F(TorchrunProgramTest, TheTorchrunOnThePathIsNotStartedToBeFound) {
  script("torchrun", "#!" + python("2.13.0") + "\nexit 1\n");
  EXPECT_EQ(missing(), "");
  EXPECT_THAT(torchrun().found(workload()),
              HasSubstr("bin/python3 -m torch.distributed.run, PyTorch 2.13.0"));
}

TEST_F(TorchrunProgramTest, APythonThatDoesNotAnswerInTimeIsNotMissing) {
  ::setenv("RANKFAULT_PYTHON", script("python3", "#!/bin/sh\nexec /bin/sleep 60\n").c_str(), 1);
  ::setenv("RANKFAULT_PROBE_LIMIT", "50ms", 1);
  const Status status = torchrun().probe(workload());
  ::unsetenv("RANKFAULT_PROBE_LIMIT");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kHost);
  EXPECT_THAT(status.error().message, HasSubstr("did not answer within 50ms"));
  python("2.13.0");  // under the same name
  EXPECT_EQ(missing(), "") << "asked anew";
}

TEST_F(TorchrunProgramTest, WithoutATorchrunThePythonOnThePathServesWhereItHasTorch) {
  python("2.13.0");
  EXPECT_EQ(missing(), "");
  python("none");
  ::setenv("PATH", ((scratch_ / "bin") + ":").c_str(), 1);  // clears the remembered answer
  EXPECT_THAT(missing(), HasSubstr("torchrun is not on PATH, and python3 has no torch"));
}

}  // namespace
}  // namespace rankfault::test
