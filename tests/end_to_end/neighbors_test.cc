// neighbors_test: a collective over neighbours that one rank leaves out, under each MPI.
#include <gmock/gmock.h>

#include "tests/support/mpirun_of.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

class Neighbors : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Versions, Neighbors,
                         testing::Values("OpenMpi4", "OpenMpi5", "Mpich5", "MpiStandard"),
                         [](const auto& which) { return which.param; });

TEST_P(Neighbors, AnExchangeLeftOutIsNamed) {
  const std::string mpirun = mpirun_of(GetParam());
  const std::string program = mpi_programs_of(GetParam()) + "/mpi_neighbors";
  if (!have_program(mpirun) || !have_program(program))
    GTEST_SKIP() << "no " << GetParam() << " or its programs";
  const Scratch scratch;
  const std::string file = scratch.write(
      "scenario.yaml",
      "version: 1\nname: neighbors\nworkload:\n  launcher: mpirun\n  mpirun: " + mpirun +
          "\n  ranks: 4\n  command: [" + program +
          ", \"--steps=2\"]\n  limits: {wall: 60s}\nfaults:\n"
          "  - {id: skip, kind: skip_call, ranks: [1], at: {op: neighbor_all_to_all, nth: 4}}\nexpect:\n"
          "  - blamed: {kind: missing_call, ranks: [1], op: neighbor_all_to_all, confidence: proven}\n");
  const ToolRun tool = run_tool({"run", file, "--run-dir", scratch.file("run")});
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, testing::HasSubstr("mpi_neighbors.c:"));
}

}  // namespace
}  // namespace rankfault::test
