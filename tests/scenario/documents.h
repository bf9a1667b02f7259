// documents: whole scenario texts for tests, with one part replaced.
#pragma once

#include <string>

#include "harness/scenario/scenario_parser.h"
#include "harness/scenario/validate.h"

namespace rankfault {

inline const std::string kGood =
    "version: 1\n"                                                   // 1
    "name: good\n"                                                   // 2
    "summary: One rank is killed.\n"                                 // 3
    "workload:\n"                                                    // 4
    "  launcher: local\n"                                            // 5
    "  ranks: 4\n"                                                   // 6
    "  command: [prog, --steps=3]\n"                                 // 7
    "  limits: {wall: 90s}\n"                                        // 8
    "faults:\n"                                                      // 9
    "  - id: kill\n"                                                 // 10
    "    kind: rank_kill\n"                                          // 11
    "    ranks: [2]\n"                                               // 12
    "    at: {op: all_reduce, comm: world, nth: 3}\n"                // 13
    "expect:\n"                                                      // 14
    "  - blamed: {kind: dead_rank, ranks: [2], op: all_reduce}\n"    // 15
    "  - unblocked: {ranks: survivors, within: 12s, after: kill}\n"  // 16
    "  - left_nothing: [processes, shm, sockets, temp_files]\n";     // 17

// Returns kGood with the first `from` replaced by `to`.
inline std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const size_t at = text.find(from);
  if (at == std::string::npos) return "the test replaces what is not there: " + from;
  return text.replace(at, from.size(), to);
}

// The first mistake of a text, including those that the catalogues find; "" if there is none.
inline std::string mistake(const std::string& text) {
  const ParsedScenario parsed = parse_all(text, "f.yaml");
  if (!parsed.errors.empty()) return parsed.errors.front().to_string();
  const std::vector<Error> errors = validate(parsed.scenario);
  return errors.empty() ? "" : errors.front().to_string();
}

}  // namespace rankfault
