// scenario_parser: text -> Scenario, or every mistake in it with its place. Needs no catalogue: validate.h
// checks whether kinds, oracles and their parameters exist.
#pragma once

#include <string>
#include <vector>

#include "harness/scenario/scenario.h"

namespace rankfault {

struct ParsedScenario {
  Scenario scenario;
  std::vector<Error> errors;         // all of them, in the order of reading; empty: the scenario is whole
  std::vector<Error> warnings = {};  // old names that still work
};

ParsedScenario parse_all(const std::string& text, const std::string& file);
ParsedScenario read_scenario_tree(const Value& root, const std::string& file, const std::string& text);

// The same with the first mistake only.
Result<Scenario> parse_scenario(const std::string& text, const std::string& file);
Result<Scenario> load_scenario(const std::string& path);

// The text of a scenario file; refuses a file that cannot be a scenario before reading it.
Result<std::string> read_scenario_file(const std::string& path);

}  // namespace rankfault
