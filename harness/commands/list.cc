// rankfault list: lists faults, oracles, findings, the keys of a scenario, points, launchers and commands, or
// prints the schema of scenarios.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>

#include "harness/commands/catalogue_text.h"
#include "harness/commands/command.h"
#include "harness/commands/commands_page.h"
#include "harness/commands/findings_page.h"
#include "harness/commands/keys_page.h"
#include "harness/scenario/schema.h"

namespace rankfault {
namespace {

struct Options {
  std::string what;
  bool markdown = false, json = false;
};

std::string markdown_of(const std::string& what) {
  if (what == "findings") return findings_page();
  if (what == "commands") return commands_page();
  if (what == "keys") return fmt::format("{}", fmt::join(key_tables(), "\n"));
  return as_markdown(catalogue(what));
}

int list(const Options& options) {
  if (options.what == "schema") {
    fmt::print("{}\n", scenario_schema().dump(2));
    return kExitPass;
  }
  const auto& names = catalogue_names();
  if (std::find(names.begin(), names.end(), options.what) == names.end()) {
    fmt::print(stderr, "unknown list \"{}\"{}; the lists are {} and schema\n", options.what,
               did_you_mean(options.what, names), fmt::join(names, ", "));
    return kExitUsage;
  }
  if (options.json)
    fmt::print("{}\n", Json(catalogue(options.what).rows).dump(2));
  else
    fmt::print("{}", options.markdown ? markdown_of(options.what) : as_text(catalogue(options.what)));
  return kExitPass;
}

const Registration<CliCommand> kRegistration{{
    "list",
    "List faults, oracles, findings, keys, points, launchers or commands, or print the schema",
    "  rankfault list faults\n"
    "  rankfault list oracles --markdown\n"
    "  rankfault list schema > scenario.v1.schema.json",
    [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("what", options->what,
                     "faults, oracles, findings, keys (of a scenario), points, launchers, commands or schema")
          ->required();
      app.add_flag("--markdown", options->markdown, "print Markdown, as in the docs");
      app.add_flag("--json", options->json, "print JSON, with the parameters");
      return [options] { return list(*options); };
    },
}};

}  // namespace
}  // namespace rankfault
