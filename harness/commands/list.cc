// rankfault list: lists what the program knows (faults, oracles, keys of a scenario ...), or prints the
// schema of scenarios.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <map>
#include <memory>

#include "harness/commands/catalogue_text.h"
#include "harness/commands/command.h"
#include "harness/commands/commands_page.h"
#include "harness/commands/events_page.h"
#include "harness/commands/faults_page.h"
#include "harness/commands/findings_page.h"
#include "harness/commands/keys_page.h"
#include "harness/scenario/schema.h"

namespace rankfault {
namespace {

struct Options {
  std::string what;
  bool markdown = false, json = false;
};

std::string keys_text() { return fmt::format("{}", fmt::join(key_tables(), "\n")); }

// What stands in the docs in another form than one table.
const std::map<std::string, std::string (*)()> kPages{{"faults", faults_page},
                                                      {"findings", findings_page},
                                                      {"commands", commands_page},
                                                      {"events", events_page},
                                                      {"keys", keys_text}};

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
  if (options.markdown)
    if (const auto page = kPages.find(options.what); page != kPages.end()) {
      fmt::print("{}", page->second());
      return kExitPass;
    }
  const CatalogueTable table = catalogue(options.what);
  if (options.json)
    fmt::print("{}\n", Json(table.rows).dump(2));
  else
    fmt::print("{}", options.markdown ? as_markdown(table) : as_text(table));
  return kExitPass;
}

const Registration<CliCommand> kRegistration{{
    "list",
    "List faults, oracles, findings, keys, points, launchers, commands, events or formats, or print the "
    "schema",
    "  rankfault list faults\n"
    "  rankfault list oracles --markdown\n"
    "  rankfault list schema > scenario.v1.schema.json",
    [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option(
             "what", options->what,
             "faults, oracles, findings, keys (of a scenario), points, launchers, commands, events (of the "
             "journal), formats (of reports) or schema")
          ->required();
      app.add_flag("--markdown", options->markdown, "print Markdown, as in the docs");
      app.add_flag("--json", options->json, "print JSON, with the parameters");
      return [options] { return list(*options); };
    },
}};

}  // namespace
}  // namespace rankfault
