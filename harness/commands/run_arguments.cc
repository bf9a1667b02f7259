#include "harness/commands/run_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "harness/base/nccl_version.h"
#include "harness/scenario/one_line.h"
#include "harness/scenario/validate.h"

namespace rankfault {

void WhatToRun::add_to(CLI::App& app) {
  app.add_option("words", words, "scenario files and directories, or a command after --");
  app.add_option("--ranks", ranks,
                 "one-line form: number of ranks; 1,2,4,8: a series of sizes, also with files");
  app.add_option("--launcher", launcher, "one-line form: local, mpirun, torchrun or command");
  app.add_option("--fault", faults, "one-line form: KIND@key=value,...")->allow_extra_args(false);
  app.add_option("--expect", expects, "one-line form: 'oracle: {...}'")->allow_extra_args(false);
  app.add_option("--wall", wall, "one-line form: time limit of the whole run, such as 60s");
  app.add_option("--set", sets, "change one value: faults.ID.at.nth=5")->allow_extra_args(false);
  app.add_option("--cuda", cuda, "machine, or double: NCCL's host code without a GPU");
  app.add_option("--nccl", nccl, "over the double: the version; when absent, the newest that is allowed");
  app.add_option("--seed", seed, "seed of all random choices");
}

namespace {

bool number_from(const std::string& text, auto& number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && end == text.data() + text.size();
}

bool names_scenarios(const std::vector<std::string>& words) {
  return !words.empty() && std::all_of(words.begin(), words.end(), [](const std::string& word) {
    return word.ends_with(".yaml") || word.ends_with(".yml") || std::filesystem::is_directory(word);
  });
}

}  // namespace

bool WhatToRun::is_ladder() const { return ranks.find(',') != std::string::npos; }

// --ranks with one number needs a command. The sizes of a ladder also go with files.
bool WhatToRun::is_one_line() const {
  if (!faults.empty() || !expects.empty() || !launcher.empty()) return true;
  return !ranks.empty() && !(is_ladder() && names_scenarios(words));
}

Result<std::vector<int>> WhatToRun::sizes() const {
  std::vector<int> out;
  std::istringstream numbers(ranks);
  for (std::string number; std::getline(numbers, number, ',');) {
    int size = 0;
    if (!number_from(number, size))
      return usage_error(fmt::format("--ranks must be a number or a list such as 1,2,4, not \"{}\"", ranks));
    out.push_back(size);
  }
  return out;
}

ParsedScenario WhatToRun::from_one_line() const {
  if (words.empty()) return {{}, {usage_error("the command is missing: write it after --")}};
  const Result<std::vector<int>> given = sizes();
  if (!given) return {{}, {given.error()}};
  ParsedScenario parsed =
      parse_command_line(given->empty() ? 0 : given->front(), launcher, faults, expects, words, wall);
  parsed.scenario.workload.cuda_double = cuda == "double";  // what can be done to a call depends on it
  return parsed;
}

std::vector<Error> WhatToRun::mistakes_of(const ParsedScenario& parsed) const {
  if (is_ladder() && parsed.errors.empty()) return {};
  return all_mistakes(parsed);
}

Status WhatToRun::read_changes(std::vector<std::pair<std::string, std::string>>& set,
                               std::optional<uint64_t>& seed_out) const {
  for (const std::string& text : sets) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return usage_error(fmt::format("--set must be key=value, not \"{}\"", text));
    set.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  if (!cuda.empty()) set.emplace_back("workload.cuda", cuda);
  if (!nccl.empty() && !nccl_version(nccl))
    return usage_error(fmt::format("--nccl must be a version such as 2.22.3, not \"{}\"", nccl));
  if (seed.empty()) return Done{};
  uint64_t number = 0;
  if (!number_from(seed, number))
    return usage_error(fmt::format("--seed must be a number, not \"{}\"", seed));
  seed_out = number;
  return Done{};
}

}  // namespace rankfault
