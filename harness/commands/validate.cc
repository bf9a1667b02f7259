// rankfault validate: checks whether each file is a scenario that can be run.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "harness/commands/command.h"
#include "harness/commands/scenario_files.h"

namespace rankfault {
namespace {

struct Options {
  std::vector<std::string> paths;
  bool quiet = false;
};

int validate_files(const Options& options) {
  Result<std::vector<std::string>> files = find_scenario_files(options.paths);
  if (!files) {
    fmt::print(stderr, "{}\n", files.error().to_string());
    return kExitUsage;
  }
  size_t wrong = 0;
  for (const std::string& file : *files) {
    const std::vector<Error> errors = check_scenario_file(file);
    for (const Error& error : errors) fmt::print(stderr, "{}\n", error.to_string());
    wrong += errors.empty() ? 0 : 1;
  }
  if (wrong) fmt::print(stderr, "{} of {} scenario files are wrong\n", wrong, files->size());
  if (!wrong && !options.quiet)
    fmt::print("{} scenario {} well formed\n", files->size(), files->size() == 1 ? "file is" : "files are");
  return wrong ? kExitUsage : kExitPass;
}

const Registration<CliCommand> kRegistration{{
    "validate",
    "Check scenario files without running anything",
    "  rankfault validate scenarios\n"
    "  rankfault validate my-scenario.yaml\n\n"
    "Exit status: 0 when all files are correct, else 64.\n"
    "validate prints each mistake as file:line:column: message.",
    [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("paths", options->paths, "scenario files, or directories of scenario files")->required();
      app.add_flag("-q,--quiet", options->quiet, "print mistakes only");
      return [options] { return validate_files(*options); };
    },
}};

}  // namespace
}  // namespace rankfault
