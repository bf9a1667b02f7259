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
#include "harness/commands/completions.h"
#include "harness/commands/events_page.h"
#include "harness/commands/faults_page.h"
#include "harness/commands/findings_page.h"
#include "harness/commands/keys_page.h"
#include "harness/scenario/schema.h"

namespace rankfault {
namespace {

struct Options {
  std::string what, shell;
  bool markdown = false, json = false;
};

std::string keys_text() { return fmt::format("{}", fmt::join(key_tables(), "\n")); }

// What stands in the docs in another form than one table.
const std::map<std::string, std::string (*)()> kPages{{"faults", faults_page},
                                                      {"findings", findings_page},
                                                      {"commands", commands_page},
                                                      {"events", events_page},
                                                      {"keys", keys_text}};

int print_completions(const std::string& shell) {
  if (std::find(shells().begin(), shells().end(), shell) == shells().end()) {
    fmt::print(stderr, "name a shell: rankfault list completions {}\n", fmt::join(shells(), "|"));
    return kExitUsage;
  }
  fmt::print("{}", completions_for(shell));
  return kExitPass;
}

int list(const Options& options) {
  if (options.what == "completions") return print_completions(options.shell);
  if (options.what == "man") {
    fmt::print("{}", manual_page());
    return kExitPass;
  }
  if (options.what == "schema") {
    fmt::print("{}\n", scenario_schema().dump(2));
    return kExitPass;
  }
  const auto& names = catalogue_names();
  if (std::find(names.begin(), names.end(), options.what) == names.end()) {
    fmt::print(stderr, "unknown list \"{}\"{}; the lists are {}, schema, completions and man\n", options.what,
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
    "List faults, oracles, findings, keys, points, launchers, commands, events, formats or evidence, or "
    "print the "
    "schema, completions for a shell or the manual page",
    "  rankfault list faults\n"
    "  rankfault list oracles --markdown\n"
    "  rankfault list schema > scenario.v1.schema.json\n"
    "  rankfault list completions bash > ~/.local/share/bash-completion/completions/rankfault\n"
    "  rankfault list man | man -l -",
    [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option(
             "what", options->what,
             "faults, oracles, findings, keys (of a scenario), points, launchers, commands, events (of the "
             "journal), formats (of reports), evidence (that reproduce reads), schema, completions or man")
          ->required();
      app.add_option("shell", options->shell, "for completions: bash, fish or zsh");
      app.add_flag("--markdown", options->markdown, "print Markdown, as in the docs");
      app.add_flag("--json", options->json, "print JSON, with the parameters");
      return [options] { return list(*options); };
    },
}};

}  // namespace
}  // namespace rankfault
