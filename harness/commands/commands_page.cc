#include "harness/commands/commands_page.h"

#include <fmt/format.h>

#include "harness/commands/catalogue_text.h"
#include "harness/commands/command.h"

namespace rankfault {
namespace {

constexpr const char* kHead =
    "# Commands\n\n"
    "Written by `rankfault list commands --markdown`. A test compares this page with the program.\n\n"
    "Every command also takes `--help`, and `--log-level error|warn|info|debug`, which writes the tool's own "
    "log to\n"
    "standard error ([tool.log](run-directory.md)).\n";

std::string row_of(const CLI::Option& option) {
  const std::string name = option.nonpositional() ? option.get_name(false, true) : option.get_name(true);
  return fmt::format("| `{}{}` | {} |\n", name,
                     option.get_items_expected_max() > 0 && option.nonpositional() ? " VALUE" : "",
                     markdown_cell(option.get_description()));
}

std::string section_of(const CliCommand& command) {
  CLI::App app;
  app.set_help_flag();
  (void)command.setup(app);  // the function that it returns would run the command
  std::string out = fmt::format("\n## rankfault {}\n\n{}.\n\n", command.name, command.summary);
  if (!app.get_options().empty()) out += "| option | meaning |\n|---|---|\n";
  for (const CLI::Option* option : app.get_options()) out += row_of(*option);
  return out + fmt::format("\n```text\n{}\n```\n", command.examples);
}

}  // namespace

std::string commands_page() {
  std::string out = kHead;
  for (const CliCommand* command : Catalog<CliCommand>::instance().all()) out += section_of(*command);
  return out;
}

}  // namespace rankfault
