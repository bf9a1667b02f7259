// one_line: a scenario without a file: `--ranks 4 --fault 'rank_kill@rank=2,op=all_reduce,nth=3' -- cmd`.
#pragma once

#include <string>
#include <vector>

#include "harness/scenario/scenario_parser.h"

namespace rankfault {

// "kind@key=value,...": rank or ranks, the trigger's keys, the common keys and the kind's own
// parameters side by side; values are YAML. Mistakes are placed as "--fault:1:COLUMN", those of one of
// several options as "--fault#2:1:COLUMN".
Result<Value> fault_from_one_line(const std::string& text, const std::string& option = "--fault");

// `launcher` empty means local, `wall` empty the default limit. With no `expects`: with a fault, every
// rank must be unblocked in time and nothing left behind; with none, the job must finish unblamed.
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
