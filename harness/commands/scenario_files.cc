#include "harness/commands/scenario_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "harness/plan/plan.h"
#include "harness/scenario/scenario_parser.h"
#include "harness/scenario/validate.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;

bool is_scenario_name(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

Status add_directory(const std::string& directory, std::vector<std::string>& out) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
    if (it->is_regular_file(error) && is_scenario_name(it->path())) found.push_back(it->path().string());
  if (error) return usage_error("cannot read the directory: " + error.message(), {directory, 0, 0});
  if (found.empty()) return usage_error("no .yaml file in this directory", {directory, 0, 0});
  std::sort(found.begin(), found.end());
  out.insert(out.end(), found.begin(), found.end());
  return Done{};
}

void check_plan(const Scenario& scenario, const Variant* variant, const Tooth* tooth, const std::string& with,
                const SourcePos& pos, std::vector<Error>& errors) {
  PlanOptions options;
  options.variant = variant;
  options.tooth = tooth;
  const Result<Plan> plan = make_plan(scenario, options);
  if (plan) return;
  Error error = plan.error();
  error.message = fmt::format("with {}: {}", with, error.message);
  if (error.where.line == 0) error.where = pos;
  errors.push_back(error);
}

}  // namespace

Result<std::vector<std::string>> find_scenario_files(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) return usage_error("no such file or directory", {path, 0, 0});
    if (!fs::is_directory(status))
      out.push_back(path);
    else if (Status ok = add_directory(path, out); !ok)
      return ok.error();
  }
  return out;
}

void print_warnings(const ParsedScenario& parsed) {
  for (const Error& warning : parsed.warnings) fmt::print(stderr, "warning: {}\n", warning.to_string());
}

std::vector<Error> check_scenario_file(const std::string& path) {
  Result<std::string> text = read_scenario_file(path);
  if (!text) return {text.error()};
  ParsedScenario parsed = parse_all(*text, path);
  print_warnings(parsed);
  std::vector<Error> errors = all_mistakes(parsed);
  if (!errors.empty()) return errors;
  if (Result<Plan> plan = make_plan(parsed.scenario, {}); !plan) errors.push_back(plan.error());
  for (const Tooth& tooth : parsed.scenario.teeth)
    check_plan(parsed.scenario, nullptr, &tooth, "mutation " + tooth.id, tooth.pos, errors);
  for (const Variant& variant : parsed.scenario.variants) {
    check_plan(parsed.scenario, &variant, nullptr, "variant " + variant.id, variant.pos, errors);
    for (const Tooth& tooth : parsed.scenario.teeth)
      check_plan(parsed.scenario, &variant, &tooth,
                 fmt::format("variant {}, mutation {}", variant.id, tooth.id), tooth.pos, errors);
  }
  return errors;
}

Error print_all_but_last(const std::vector<Error>& errors) {
  for (size_t i = 1; i < errors.size(); ++i) fmt::print(stderr, "{}\n", errors[i - 1].to_string());
  return errors.back();
}

}  // namespace rankfault
