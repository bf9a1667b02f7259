#include "reports/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "harness/scenario/yaml_tree.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;

// The entry with that index of a list of the scenario's file. The plan keeps the text, but no places.
SourcePos place_of_entry(const RunReport& report, const char* list, size_t index) {
  const Result<Value> tree = read_yaml(report.facts->plan.scenario.text, report.file);
  const Value* entries = tree ? tree->find(list) : nullptr;
  const Value::List* all = entries ? entries->list() : nullptr;
  if (!all || index >= all->size()) return {report.file, 0, 0};
  SourcePos place = (*all)[index].pos;
  place.file = report.file;
  return place;
}

template <typename T>
std::optional<size_t> index_of(const std::vector<T>& all, const std::string& id) {
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].id == id) return i;
  return std::nullopt;
}

// "train.py:31" in "evaluate() at train.py:31, called from main() at train.py:58": all such places, in order.
std::vector<SourcePos> places_in(const std::string& call_site) {
  std::vector<SourcePos> out;
  for (size_t colon = 0; (colon = call_site.find(':', colon)) != std::string::npos; ++colon) {
    int line = 0;
    const char* begin = call_site.data() + colon + 1;
    if (std::from_chars(begin, call_site.data() + call_site.size(), line).ptr == begin || line < 1) continue;
    const size_t blank = call_site.find_last_of(" (", colon);
    const size_t name = blank == std::string::npos ? 0 : blank + 1;
    out.push_back({call_site.substr(name, colon - name), line, 0});
  }
  return out;
}

// The word of the command that is this file, as a path from where rankfault was started; "" none.
std::string word_of_file(const Scenario& scenario, const std::string& name) {
  static const std::string kFolder = "{scenario_dir}";
  if (name.empty()) return "";
  for (std::string word : scenario.workload.command) {
    if (word != name && !word.ends_with("/" + name)) continue;
    if (word.starts_with(kFolder)) {
      const std::string folder = fs::path(scenario.file).parent_path().string();
      word.replace(0, kFolder.size(), folder.empty() ? "." : folder);
    } else if (word[0] != '/' && !scenario.workload.cwd.empty()) {
      word = scenario.workload.cwd + "/" + word;
    }
    return word.find('{') == std::string::npos ? fs::path(word).lexically_normal().string() : "";
  }
  return "";
}

}  // namespace

const Finding* first_cause(const RunReport& report) {
  if (!report.facts) return nullptr;
  for (const Finding& finding : report.facts->findings.all)
    if (names_trouble(finding) && finding.caused_by < 0) return &finding;
  return nullptr;
}

std::string story_of(const RunReport& report) {
  if (!report.skipped.empty()) return report.skipped;
  const Finding* cause = first_cause(report);
  return cause && !cause->text.empty() ? cause->text : report.judgement.summary;
}

std::string job_status(const RunFacts& facts) {
  std::string status;
  for (const auto& attempt : lines_of<events::AttemptEnd>(facts.journal)) status = attempt->status;
  return facts.teardown_reason.empty() || facts.teardown_reason == "over" ? status : "";
}

const ExpectationResult* deciding_result(const RunReport& report) {
  const ExpectationResult* worst = nullptr;
  for (const ExpectationResult& result : report.judgement.expectations)
    if (!worst || result.verdict > worst->verdict) worst = &result;
  return worst;
}

SourcePos place_in_scenario(const RunReport& report) {
  if (!report.where.file.empty()) return report.where;
  const SourcePos file{report.file, 0, 0};
  if (!report.facts) return file;
  const Scenario& scenario = report.facts->plan.scenario;
  const ExpectationResult* result = deciding_result(report);
  if (result && result->verdict == report.judgement.verdict)
    if (const auto index = index_of(scenario.expect, result->id))
      return place_of_entry(report, "expect", *index);
  for (const FaultResult& fault : report.judgement.faults)
    if (!fault.verified)
      if (const auto index = index_of(scenario.faults, fault.id))
        return place_of_entry(report, "faults", *index);
  return file;
}

std::optional<SourcePos> line_of_program(const RunReport& report) {
  const Finding* cause = first_cause(report);
  if (!cause) return std::nullopt;
  std::vector<std::string> sites{cause->call_site};
  for (const Side& side : cause->sides) sites.push_back(side.call_site);
  for (const std::string& site : sites)
    for (SourcePos place : places_in(site)) {
      place.file = word_of_file(report.facts->plan.scenario, place.file);
      if (!place.file.empty()) return place;
    }
  return std::nullopt;
}

}  // namespace rankfault
