// hidden_calls_test: correct MPI programs that communicate outside recorded calls: the diagnosis must not
// prove anything.
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

class HiddenCalls : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!have_program("mpirun")) GTEST_SKIP() << "no mpirun";
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
      ::setenv(name, "1", 1);
  }
};

TEST_P(HiddenCalls, ProveNothing) {
  const Scratch scratch;
  const ToolRun tool =
      run_tool({"watch", "--run-dir", scratch.file("run"), "--", "mpirun", "--oversubscribe", "-np", "3",
                build_dir() + "/bin/ranks/mpi/mpi_callbacks", std::string("--how=") + GetParam()});
  const std::string journal = read_file(scratch.file("run/journal.ndjson"));
  EXPECT_THAT(tool.output, testing::HasSubstr("the job ended: exit 0"));
  EXPECT_THAT(journal, testing::Not(testing::HasSubstr("\"confidence\":\"proven\""))) << tool.output;
}

INSTANTIATE_TEST_SUITE_P(Programs, HiddenCalls, testing::Values("finalize", "free", "persistent"),
                         [](const testing::TestParamInfo<const char*>& how) {
                           return std::string(how.param);
                         });

}  // namespace
}  // namespace rankfault::test
