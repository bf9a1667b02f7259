// mpi_left_out_test: one rank leaves out a less common call of MPI, under each MPI.
#include <gmock/gmock.h>

#include "tests/end_to_end/jobs.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

class MpiLeftOut : public testing::TestWithParam<const char*> {
 protected:
  // Returns what the tool printed; nothing if this MPI is not installed.
  std::string run(const std::string& program, const Job& job) {
    const std::string text = mpi_program_job(GetParam(), program, job);
    if (text.empty()) return "";
    const Scratch scratch;
    const ToolRun tool =
        run_tool({"run", scratch.write("scenario.yaml", text), "--run-dir", scratch.file("run")});
    EXPECT_EQ(tool.status, 0) << tool.output;
    EXPECT_THAT(tool.output, HasSubstr(program + ".c:"));
    return tool.output;
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, MpiLeftOut,
                         testing::Values("OpenMpi4", "OpenMpi5", "Mpich5", "MpiStandard"),
                         [](const auto& which) { return which.param; });

// The job hangs elsewhere, in another order of calls: the cycle names the request, and its missing start.
TEST_P(MpiLeftOut, AStartOfAPersistentCollectiveIsTracedFromTheHang) {
  const std::string said =
      run("mpi_persistent",
          {.ranks = 3,
           .fault = "{id: skip, kind: skip_call, ranks: [1], at: {op: all_reduce, nth: 2}}",
           .expect = "  - blamed: {kind: order_deadlock, ranks: [1], op: all_reduce, confidence: proven}\n",
           .args = ", \"--steps=4\"",
           .wall = "60s"});
  if (said.empty()) GTEST_SKIP() << "no " << GetParam() << " or its programs";
  EXPECT_THAT(said, HasSubstr("request of call 1, call 4"));
}

TEST_P(MpiLeftOut, AnExchangeWithNeighborsIsNamed) {
  const std::string said =
      run("mpi_neighbors",
          {.fault = "{id: skip, kind: skip_call, ranks: [1], at: {op: neighbor_all_to_all, nth: 4}}",
           .expect =
               "  - blamed: {kind: missing_call, ranks: [1], op: neighbor_all_to_all, confidence: proven}\n",
           .args = ", \"--steps=2\"",
           .wall = "60s"});
  if (said.empty()) GTEST_SKIP() << "no " << GetParam() << " or its programs";
}

}  // namespace
}  // namespace rankfault::test
