// doctor_test: what the tool reports about the machine and about programs that it has not started.
#include <gmock/gmock.h>

#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string doctor(const std::string& program, int status = 0) {
  const ToolRun tool = run_tool({"doctor", program});
  EXPECT_EQ(tool.status, status) << tool.output;
  return tool.output;
}

TEST(Doctor, TellsOfTheMachineAndOfWhatTheToolBrings) {
  const std::string said = run_tool({"doctor"}).output;
  for (const char* word :
       {"cores, Linux", "local: ready", "librankfault_agent.so; reads ", "cuda ", "py-spy "})
    EXPECT_THAT(said, HasSubstr(word));
}

TEST(Doctor, SaysWhetherACallOfPyTorchsOwnNcclBackendCanBeSkipped) {
  const std::string said = run_tool({"doctor"}).output;
  if (said.find("PyTorch's nccl backend over it: /") == std::string::npos)
    GTEST_SKIP() << "./dev torch-nccl was not run";
  EXPECT_THAT(said, HasSubstr("ompleted work for PyTorch "));
}

TEST(Doctor, NamesWhatTheDoubleDoesNotModel) {
  const std::string said = run_tool({"doctor", "--all"}).output;
  if (said.find("not built (to add it: ./dev nccl") != std::string::npos)
    GTEST_SKIP() << "./dev nccl was not run";
  EXPECT_THAT(said, HasSubstr("functions are modelled"));
  EXPECT_THAT(said, HasSubstr(" cudaGraphCreate "));
  EXPECT_THAT(said, Not(HasSubstr(" cudaMalloc ")));
}

TEST(Doctor, ARuntimeLinkedInIsNotSeenAndCannotBeDoubled) {
  const std::string said = doctor(build_dir() + "/bin/launch_cuda_static");
  EXPECT_THAT(said, HasSubstr("CUDA runtime: linked in statically: its calls are not recorded"));
}

TEST(Doctor, ASharedRuntimeIsSeen) {
  const std::string said = doctor(build_dir() + "/bin/launch_cuda_new");
  EXPECT_THAT(said, HasSubstr("CUDA runtime: libcudart.so.99, shared: its calls are recorded"));
}

TEST(Doctor, WhatTheProgramHasItselfIsNotSeen) {
  EXPECT_THAT(doctor(build_dir() + "/bin/launch_cuda_inside"),
              HasSubstr("in the program itself: its calls are not recorded"));
}

TEST(Doctor, OfPlainProgramsAndScriptsItSaysSo) {
  EXPECT_THAT(doctor("/bin/true"), HasSubstr("none of MPI, NCCL and CUDA is linked to it"));
  EXPECT_THAT(doctor(source_dir() + "/dev"), HasSubstr("a script"));
}

TEST(Doctor, WhatCannotBeStartedIsTheUsersMistake) {
  EXPECT_THAT(doctor("/nowhere", 64), HasSubstr("/nowhere: No such file"));
  EXPECT_THAT(doctor(build_dir() + "/bin/launch_static", 64), HasSubstr("statically linked program"));
}

}  // namespace
}  // namespace rankfault::test
