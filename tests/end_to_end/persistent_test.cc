// persistent_test: a start of a persistent collective that one rank leaves out, under each MPI.
#include <gmock/gmock.h>

#include "tests/support/mpirun_of.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

class Persistent : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Versions, Persistent,
                         testing::Values("OpenMpi4", "OpenMpi5", "Mpich5", "MpiStandard"),
                         [](const auto& which) { return which.param; });

// It hangs elsewhere, in another order of calls: the cycle names the request, and its start that is missing.
TEST_P(Persistent, AStartLeftOutIsTracedFromTheHang) {
  const std::string mpirun = mpirun_of(GetParam());
  const std::string program = mpi_programs_of(GetParam()) + "/mpi_persistent";
  if (!have_program(mpirun) || !have_program(program))
    GTEST_SKIP() << "no " << GetParam() << " or its programs";
  const Scratch scratch;
  const std::string file = scratch.write(
      "scenario.yaml",
      "version: 1\nname: persistent\nworkload:\n  launcher: mpirun\n  mpirun: " + mpirun +
          "\n  ranks: 3\n  command: [" + program +
          ", \"--steps=4\"]\n  limits: {wall: 60s}\nfaults:\n"
          "  - {id: skip, kind: skip_call, ranks: [1], at: {op: all_reduce, nth: 2}}\nexpect:\n"
          "  - blamed: {kind: order_deadlock, ranks: [1], op: all_reduce, confidence: proven}\n");
  const ToolRun tool = run_tool({"run", file, "--run-dir", scratch.file("run")});
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, testing::HasSubstr("request of call 1, call 4"));
  EXPECT_THAT(tool.output, testing::HasSubstr("mpi_persistent.c:"));
}

}  // namespace
}  // namespace rankfault::test
