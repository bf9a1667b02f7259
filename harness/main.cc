// main: the command line; all verbs register themselves in commands/.
#include <CLI/CLI.hpp>

#include "harness/commands/command.h"

int main(int argc, char** argv) {
  using namespace rankfault;
  CLI::App app{"rankfault: break a multi-rank job at an exact point, and prove what it did about it"};
  app.name("rankfault");
  app.require_subcommand(1);
  app.set_version_flag("--version", "rankfault 0.1.0");
  int status = kExitInternal;
  for (const CliCommand* command : Catalog<CliCommand>::instance().all()) {
    CLI::App* verb = app.add_subcommand(command->name, command->summary);
    verb->footer(command->examples);
    verb->callback([&status, run = command->setup(*verb)] { status = run(); });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    app.exit(e);  // prints; its own codes never leave main
    return kExitUsage;
  }
  return status;
}
