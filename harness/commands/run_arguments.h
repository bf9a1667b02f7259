// WhatToRun: the options that `run` and `plan` share: a scenario file, or the one-line form, and changes to
// it. Errors are the user's: exit 64.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/scenario/scenario_parser.h"

namespace rankfault {

struct WhatToRun {
  std::vector<std::string> words;  // files and directories, or the command after --
  std::string ranks;               // "4", or the sizes of a ladder: "1,2,4,8"
  std::string launcher, wall, seed, cuda, nccl;
  std::vector<std::string> faults, expects, sets;

  void add_to(CLI::App&);
  bool is_one_line() const;
  bool is_ladder() const;
  Result<std::vector<int>> sizes() const;  // the value of --ranks
  ParsedScenario from_one_line() const;
  // The mistakes of a scenario that was read from these options. A ladder replaces the scenario's size, so
  // mistakes about the size are reported at each rung.
  std::vector<Error> mistakes_of(const ParsedScenario&) const;
  // --set, --cuda and --seed; the seed stays nullopt when it is not given.
  Status read_changes(std::vector<std::pair<std::string, std::string>>& set,
                      std::optional<uint64_t>& seed) const;
};

}  // namespace rankfault
