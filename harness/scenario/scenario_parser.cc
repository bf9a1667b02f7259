#include "harness/scenario/scenario_parser.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "harness/scenario/scenario_fields.h"
#include "harness/scenario/yaml_tree.h"

namespace rankfault {

ParsedScenario read_scenario_tree(const Value& root, const std::string& file, const std::string& text) {
  ParsedScenario out;
  Problems problems;
  out.scenario.file = file;
  out.scenario.text = text;
  read_map(root, "a scenario", out.scenario, problems);
  out.errors = problems.all();
  out.warnings = problems.warnings();
  return out;
}

ParsedScenario parse_all(const std::string& text, const std::string& file) {
  Result<Value> tree = read_yaml(text, file);
  if (!tree) return {Scenario{}, {tree.error()}, {}};
  return read_scenario_tree(*tree, file, text);
}

Result<Scenario> parse_scenario(const std::string& text, const std::string& file) {
  ParsedScenario parsed = parse_all(text, file);
  if (!parsed.errors.empty()) return parsed.errors.front();
  return std::move(parsed.scenario);
}

Result<std::string> read_scenario_file(const std::string& path) {
  struct stat info {};
  const auto refuse = [&](const std::string& message) { return usage_error(message, {path, 0, 0}); };
  if (stat(path.c_str(), &info) != 0) {
    Error error = errno_error("cannot open");
    error.where.file = path;
    return error;
  }
  if (!S_ISREG(info.st_mode)) return refuse("not a file");
  if (static_cast<size_t>(info.st_size) > kLargestScenarioBytes)
    return refuse(fmt::format("the file is too large for a scenario: {} bytes", info.st_size));
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) {
    Error error = errno_error("cannot read");
    error.where.file = path;
    return error;
  }
  return text.str();
}

Result<Scenario> load_scenario(const std::string& path) {
  Result<std::string> text = read_scenario_file(path);
  if (!text) return text.error();
  return parse_scenario(*text, path);
}

}  // namespace rankfault
