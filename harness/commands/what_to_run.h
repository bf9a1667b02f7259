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
#include "harness/scenario/scenario.h"

namespace rankfault {

struct WhatToRun {
  std::vector<std::string> words;  // files and directories, or the command after --
  static constexpr int kNotGiven = -1'000'000'000;
  int ranks = kNotGiven;
  std::string launcher, wall, seed;
  std::vector<std::string> faults, expects, sets;

  void add_to(CLI::App&);
  bool is_one_line() const;
  Result<Scenario> from_one_line() const;
  // --set and --seed; the seed stays nullopt when it is not given.
  Status read_changes(std::vector<std::pair<std::string, std::string>>& set,
                      std::optional<uint64_t>& seed) const;
};

}  // namespace rankfault
