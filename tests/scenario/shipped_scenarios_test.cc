// shipped_scenarios_test: every scenario file of the repository is well formed, the table of faults is
// current.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "harness/commands/catalogue_text.h"
#include "harness/commands/scenario_files.h"

namespace rankfault {
namespace {

TEST(ShippedScenarios, AreAllWellFormed) {
  const char* source = std::getenv("RANKFAULT_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "RANKFAULT_SOURCE_DIR is not set (run under ctest)";
  const Result<std::vector<std::string>> files = find_scenario_files({std::string(source) + "/scenarios"});
  ASSERT_TRUE(files.ok()) << files.error().to_string();
  for (const std::string& file : *files)
    for (const Error& error : check_scenario_file(file)) ADD_FAILURE() << error.to_string();
}

TEST(ScenarioFiles, ADirectoryWithoutAnyIsAnError) {
  EXPECT_FALSE(find_scenario_files({"/proc/self/fdinfo"}).ok());
  EXPECT_EQ(find_scenario_files({"/nowhere"}).error().to_string(), "/nowhere: no such file or directory");
}

TEST(FaultCatalogue, ReadmeHoldsTheGeneratedTable) {
  const char* source = std::getenv("RANKFAULT_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "RANKFAULT_SOURCE_DIR is not set (run under ctest)";
  std::ostringstream text;
  text << std::ifstream(std::string(source) + "/faults/README.md").rdbuf();
  EXPECT_NE(text.str().find(as_markdown(catalogue("faults"))), std::string::npos)
      << "write the table anew: rankfault list faults --markdown";
}

}  // namespace
}  // namespace rankfault
