#include "harness/scenario/scenario_parser.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "harness/base/suggest.h"
#include "harness/scenario/readers.h"
#include "harness/scenario/value.h"
#include "harness/scenario/yaml_tree.h"

namespace rankfault {
namespace {

constexpr int64_t kFormatVersion = 1;

void read_version(MapReader& in) {
  const Value* version = in.need("version");
  if (!version) return;
  const int64_t* number = std::get_if<int64_t>(&version->data);
  if (!number || *number != kFormatVersion)
    in.problems().add(
        fmt::format("this rankfault reads version {}, not {}", kFormatVersion, kind_of(*version)),
        version->pos);
}

// The name becomes part of file names.
void read_name(MapReader& in, std::string& out) {
  if (!in.need("name") || !in.text("name", out)) return;
  const bool fits =
      !out.empty() && out.size() <= 100 && out[0] != '.' && out[0] != '-' &&
      out.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
          std::string::npos;
  if (!fits)
    in.problems().add("\"name\" must be 1 to 100 letters, digits, dots, dashes and underscores",
                      in.value().find("name")->pos);
}

void read_reference(MapReader& in, bool& out) {
  std::string word;
  if (!in.text("reference", word)) return;
  out = word == "fault_free";
  if (!out)
    in.problems().add(fmt::format("\"reference\" must be fault_free, not \"{}\"{}", word,
                                  did_you_mean(word, {"fault_free"})),
                      in.value().find("reference")->pos);
}

void read_seed(MapReader& in, std::optional<uint64_t>& out) {
  int64_t seed = 0;
  if (in.number("seed", seed, 0, std::numeric_limits<int64_t>::max())) out = static_cast<uint64_t>(seed);
}

void read_parts(MapReader& in, Scenario& out, Problems& problems) {
  if (const Value* workload = in.need("workload")) read_workload(*workload, out.workload, problems);
  read_reference(in, out.reference_fault_free);
  read_seed(in, out.seed);
  if (const Value* teeth = in.find("teeth")) read_teeth(*teeth, out.workload.launcher, out.teeth, problems);
  if (const Value* variants = in.find("variants"))
    read_variants(*variants, out.workload.launcher, out.variants, problems);
  if (const Value* bug = in.find("bug")) read_bug(*bug, out.workload.launcher, out.bug, problems);
  if (const Value* faults = in.find("faults")) read_faults(*faults, out.faults, problems);
  if (const Value* expect = in.need("expect")) {
    read_expectations(*expect, out.expect, problems);
    if (expect->list() && expect->list()->empty())
      problems.add("\"expect\" is empty: write at least one expectation", expect->pos);
  }
  if (const Value* must_be = in.find("must_be")) read_must_be(*must_be, out.must_be, problems);
}

}  // namespace

ParsedScenario read_scenario_tree(const Value& root, const std::string& file, const std::string& text) {
  ParsedScenario out;
  Problems problems;
  out.scenario.file = file;
  out.scenario.text = text;
  MapReader in(root, "a scenario", problems);
  if (root.map()) {
    read_version(in);
    read_name(in, out.scenario.name);
    in.text("summary", out.scenario.summary);
    read_parts(in, out.scenario, problems);
    in.finish();
  }
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
