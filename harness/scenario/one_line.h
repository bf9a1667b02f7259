// one_line: a scenario without a file: `--ranks 4 --fault 'rank_kill@rank=2,op=all_reduce,nth=3' -- cmd`.
#pragma once

#include <string>
#include <vector>

#include "harness/scenario/scenario_parser.h"

namespace rankfault {

// "kind@key=value,...": rank or ranks, the trigger's keys, the common keys and the kind's own parameters side
// by side; values are YAML. Mistakes have the place "--fault:1:COLUMN"; with several options,
// "--fault#2:1:COLUMN".
Result<Value> fault_from_one_line(const std::string& text, const std::string& option = "--fault");

// An empty `launcher` means local, an empty `wall` the default limit. Without `expects`: with a fault, every
// rank must be unblocked in time and leave nothing behind; without one, the job must finish unblamed.
ParsedScenario parse_command_line(int ranks, const std::string& launcher,
                                  const std::vector<std::string>& faults,
                                  const std::vector<std::string>& expects,
                                  const std::vector<std::string>& argv, const std::string& wall = "");
// The same with the first mistake only.
Result<Scenario> scenario_from_command_line(int ranks, const std::string& launcher,
                                            const std::vector<std::string>& faults,
                                            const std::vector<std::string>& expects,
                                            const std::vector<std::string>& argv,
                                            const std::string& wall = "");

}  // namespace rankfault
