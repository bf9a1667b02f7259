// what_to_run: see what_to_run.h.
#include "harness/commands/what_to_run.h"

#include <fmt/format.h>

#include <charconv>

#include "harness/scenario/one_line.h"

namespace rankfault {

void WhatToRun::add_to(CLI::App& app) {
  app.add_option("words", words, "scenario files and directories, or the command after --");
  app.add_option("--ranks", ranks, "one-line form: how many ranks");
  app.add_option("--launcher", launcher, "one-line form: local, mpirun or torchrun");
  app.add_option("--fault", faults, "one-line form: KIND@key=value,...")->allow_extra_args(false);
  app.add_option("--expect", expects, "one-line form: 'oracle: {...}'")->allow_extra_args(false);
  app.add_option("--wall", wall, "one-line form: limit of the whole run, as 60s");
  app.add_option("--set", sets, "change one place: faults.ID.at.nth=5")->allow_extra_args(false);
  app.add_option("--seed", seed, "for every choice that is drawn");
}

bool WhatToRun::is_one_line() const {
  return ranks != kNotGiven || !faults.empty() || !expects.empty() || !launcher.empty();
}

Result<Scenario> WhatToRun::from_one_line() const {
  if (words.empty()) return usage_error("there is no command: write it after --");
  return scenario_from_command_line(ranks == kNotGiven ? 0 : ranks, launcher, faults, expects, words, wall);
}

Status WhatToRun::read_changes(std::vector<std::pair<std::string, std::string>>& set,
                               std::optional<uint64_t>& seed_out) const {
  for (const std::string& text : sets) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return usage_error(fmt::format("--set wants key=value, not \"{}\"", text));
    set.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  if (seed.empty()) return Done{};
  uint64_t number = 0;
  const auto [end, status] = std::from_chars(seed.data(), seed.data() + seed.size(), number);
  if (status != std::errc() || end != seed.data() + seed.size())
    return usage_error(fmt::format("--seed wants a number, not \"{}\"", seed));
  seed_out = number;
  return Done{};
}

}  // namespace rankfault
