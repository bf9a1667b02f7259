// scenario_files: the scenario files behind the paths of a command line.
#pragma once

#include <string>
#include <vector>

#include "harness/scenario/scenario_parser.h"

namespace rankfault {

// A file means itself, a directory means all .yaml and .yml files below it, sorted. A directory without such
// files, and a path that does not exist, is an error.
Result<std::vector<std::string>> find_scenario_files(const std::vector<std::string>& paths);

// Every mistake of one file, from the parser, the catalogues and the planner, including mutation checks
// (teeth). Prints the warnings.
std::vector<Error> check_scenario_file(const std::string& path);

// Prints what still works under an old name.
void print_warnings(const ParsedScenario&);

// For a command that returns one error: prints the others, and returns the last.
Error print_all_but_last(const std::vector<Error>&);

}  // namespace rankfault
