// CliCommand: one verb of the command line; one self-registered file each in commands/.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "harness/base/catalog.h"
#include "harness/base/exit_code.h"

namespace rankfault {

struct CliCommand {
  const char* name;
  const char* summary;
  const char* examples;  // shown under --help
  // Adds options to its subcommand and returns the function to run; the closure holds the options.
  std::function<std::function<int()>(CLI::App&)> setup;
};

}  // namespace rankfault
