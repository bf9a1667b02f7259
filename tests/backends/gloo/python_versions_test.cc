// python_versions_test: on each interpreter that is here, the Python frames of calls are those of its own
// traceback. RANKFAULT_PYTHONS names further interpreters, with colons between them.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include "harness/base/capture.h"
#include "tests/backends/gloo/python_calls.h"
#include "tests/backends/gloo/rank_job.h"
#include "tests/support/mpirun_of.h"

namespace rankfault::test {
namespace {

std::vector<std::string> parts_of(const char* variable) {
  std::vector<std::string> parts;
  const char* value = getenv(variable);
  std::istringstream in(value ? value : "");
  for (std::string part; std::getline(in, part, ':');) parts.push_back(part);
  return parts;
}

// The interpreter behind a name. pyenv puts a script on PATH for each version, also for one that it does not
// start; such a script has no interpreter behind it.
std::optional<std::string> interpreter_of(const std::string& path) {
  std::optional<std::string> executable =
      capture({path, "-c", "import sys; sys.stdout.write(sys.executable)"},
              {.limit = probe_limit(), .with_stderr = false});
  if (executable) executable = std::filesystem::canonical(*executable);
  return executable;
}

// python3.8 to python3.14 on PATH, and those of RANKFAULT_PYTHONS.
std::vector<std::string> interpreters() {
  std::vector<std::string> found = parts_of("RANKFAULT_PYTHONS");
  for (const std::string& folder : parts_of("PATH"))
    for (int minor = 8; minor <= 14; ++minor) {
      const std::string path = folder + "/python3." + std::to_string(minor);
      if (::access(path.c_str(), X_OK) != 0) continue;
      if (const auto interpreter = interpreter_of(path)) found.push_back(*interpreter);
    }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void compare(const std::string& python) {
  SCOPED_TRACE(python);
  const char* source = getenv("RANKFAULT_SOURCE_DIR");
  const std::string script = std::string(source ? source : ".") + "/tests/ranks/mpi/python_frames.py";
  // Isolated: Open MPI starts no daemon, whose folder would go after the test's.
  const RankJobEnd end = run_ranks({.argv = {python, script},
                                    .ranks = 1,
                                    .env = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                            {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                            {"OMPI_MCA_ess_singleton_isolated", "1"}}});
  ASSERT_THAT(end.status, testing::Each(0)) << said_by_failed(end);
  const FlightRecord& record = end.records.at(0);
  EXPECT_EQ(record.header.python_off, static_cast<uint32_t>(RF_PYTHON_IS_ON));
  const PythonCalls calls(record);
  const Json& truth = end.book.at(0).at("recorded");
  size_t call = 0;
  for (const rf_record& r : record.records(RF_LIB_MPI)) {
    if (r.phase != RF_PHASE_ENTER || r.op != RF_OP_BARRIER) continue;
    ASSERT_LT(call, truth.size());
    EXPECT_EQ(calls.frames_of(r), truth[call]) << "call " << call;
    ++call;
  }
  EXPECT_EQ(call, truth.size());
  EXPECT_GT(call, 10u);
}

TEST(PythonVersions, HaveTheFramesOfTheirOwnTraceback) {
  if (!have_program(mpirun_of("OpenMpi4"))) GTEST_SKIP() << "no Open MPI 4";
  const std::vector<std::string> all = interpreters();
  if (all.empty())
    GTEST_SKIP() << "PATH has no interpreter whose frames rankfault knows (python3.8 to python3.14)";
  for (const std::string& python : all) compare(python);
}

}  // namespace
}  // namespace rankfault::test
