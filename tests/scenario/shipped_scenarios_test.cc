// shipped_scenarios_test: every scenario file of the repository is well formed, and the table of faults is
// current.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>
#include <vector>

#include "harness/commands/catalogue_text.h"
#include "harness/commands/commands_page.h"
#include "harness/commands/events_page.h"
#include "harness/commands/faults_page.h"
#include "harness/commands/findings_page.h"
#include "harness/commands/keys_page.h"
#include "harness/commands/scenario_files.h"
#include "harness/scenario/scenario_parser.h"

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

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A scenario without a mutation check would pass whatever the job does. A canary is its own check.
TEST(ShippedScenarios, EachHasTeethAndALineInTheCatalogue) {
  const char* source = std::getenv("RANKFAULT_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "RANKFAULT_SOURCE_DIR is not set (run under ctest)";
  const std::string folder = std::string(source) + "/scenarios/",
                    catalogue_page = text_of(folder + "README.md");
  const Result<std::vector<std::string>> files = find_scenario_files({folder});
  ASSERT_TRUE(files.ok());
  for (const std::string& file : *files) {
    if (file.find("/canary/") != std::string::npos) continue;
    const Result<Scenario> scenario = load_scenario(file);
    ASSERT_TRUE(scenario.ok()) << file;
    EXPECT_FALSE(scenario->teeth.empty() && !scenario->bug) << file << " has no teeth";
    const std::string name = std::filesystem::relative(file, folder);
    EXPECT_NE(catalogue_page.find("(" + name + ")"), std::string::npos)
        << name << " is not in scenarios/README.md";
  }
}

TEST(ScenarioFiles, ADirectoryWithoutAnyIsAnError) {
  EXPECT_FALSE(find_scenario_files({"/proc/self/fdinfo"}).ok());
  EXPECT_EQ(find_scenario_files({"/nowhere"}).error().to_string(), "/nowhere: no such file or directory");
}

// Pages that the program writes: each equals what it writes now.
TEST(GeneratedPages, AreThoseOfThisProgram) {
  const char* source = std::getenv("RANKFAULT_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "RANKFAULT_SOURCE_DIR is not set (run under ctest)";
  std::vector<std::tuple<std::string, std::string, std::string>> pages{
      {"/faults/README.md", "faults", faults_page()},
      {"/docs/reference/oracles.md", "oracles", as_markdown(catalogue("oracles"))},
      {"/docs/reference/findings.md", "findings", findings_page()},
      {"/docs/reference/commands.md", "commands", commands_page()},
      {"/docs/reference/journal.md", "events", events_page()},
      {"/docs/reference/formats.md", "formats", as_markdown(catalogue("formats"))}};
  for (const std::string& table : key_tables())
    pages.emplace_back("/docs/reference/scenario.md", "keys", table);
  for (const auto& [page, list, text] : pages) {
    const std::string shipped = text_of(source + page);
    const bool is_whole = text.starts_with("# ");  // else the page has other text around the table
    EXPECT_TRUE(is_whole ? shipped == text : shipped.find(text) != std::string::npos)
        << page << " is not what `rankfault list " << list << " --markdown` prints";
  }
}

}  // namespace
}  // namespace rankfault
