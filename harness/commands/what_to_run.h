// WhatToRun: the words that `run` and `plan` have in common: a scenario file, or the one-line form, and
// how to change it. Errors are the user's: exit 64.
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
  Result<std::vector<int>> sizes() const;  // what --ranks says
  ParsedScenario from_one_line() const;
  // Of one that was read from here. A ladder's sizes are not those it says: what they mean is told at each.
  std::vector<Error> mistakes_of(const ParsedScenario&) const;
  // --set, --cuda and --seed; the seed stays nullopt when it is not given.
  Status read_changes(std::vector<std::pair<std::string, std::string>>& set,
                      std::optional<uint64_t>& seed) const;
};

}  // namespace rankfault
