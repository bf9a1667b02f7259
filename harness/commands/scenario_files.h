// scenario_files: the scenario files behind the paths of a command line.
#pragma once

#include <string>
#include <vector>

#include "harness/scenario/scenario.h"

namespace rankfault {

// A file stands for itself, a directory for all .yaml and .yml files below it, sorted. A directory
// without any, and a path that is not there, is an error.
Result<std::vector<std::string>> find_scenario_files(const std::vector<std::string>& paths);

// Every mistake of one file: what the parser, the catalogues and the planner say, teeth included.
std::vector<Error> check_scenario_file(const std::string& path);

// For a command that answers with one error: prints the others, and gives the last.
Error print_all_but_last(const std::vector<Error>&);

}  // namespace rankfault
