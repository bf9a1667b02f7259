#include "harness/session/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "harness/base/mask.h"
#include "harness/judge/comparison.h"
#include "harness/run_dir/run_dir.h"
#include "harness/session/session.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;

constexpr const char* kList = "comparison.json";

Status write_json_to(const std::string& path, const Json& json) {
  std::ofstream out(path, std::ios::trunc);
  out << masked(json).dump(2, ' ', false, Json::error_handler_t::replace) << "\n" << std::flush;
  return out ? Status(Done{}) : errno_error("write " + path);
}

double seconds_of(const RunFacts& facts) {
  return static_cast<double>(lasted(facts.begin, facts.end) / 1ms) / 1e3;
}

RunReport report_of(const std::vector<JudgedVariant>& variants) {
  RunReport report;
  report.judgement = judge_comparison(variants);
  report.compared.emplace();
  for (const auto& [run, judgement] : variants) {
    if (report.cuda_double.empty()) report.cuda_double = run.facts->cuda_double;
    report.compared->rows.push_back({run.id, run.n, run.facts->plan.scenario.workload.ranks,
                                     judgement.verdict, seconds_of(*run.facts), judgement.summary});
  }
  if (variants.empty()) return report;
  const Scenario& scenario = variants.front().run.facts->plan.scenario;
  report.scenario = scenario.name;
  report.file = scenario.file;
  report.compared->must_be = scenario.must_be;
  return report;
}

}  // namespace

Result<Comparison> Comparison::open(const Scenario& scenario, const std::string& dir) {
  Result<std::string> made = make_run_folder(dir, scenario.name);
  if (!made) return made.error();
  Comparison out;
  out.scenario_ = &scenario;
  out.dir_ = std::move(*made);
  return out;
}

std::vector<std::pair<const Variant*, int>> Comparison::turns() const {
  std::vector<std::pair<const Variant*, int>> out;
  int most = 0;
  for (const Variant& variant : scenario_->variants) most = std::max(most, variant.times);
  for (int n = 1; n <= most; ++n)
    for (const Variant& variant : scenario_->variants)
      if (n <= variant.times) out.emplace_back(&variant, n);
  return out;
}

std::string Comparison::run_dir(const Variant& variant, int n) const {
  return fmt::format("{}/{}.{}", dir_, variant.id, n);
}

void Comparison::add(const Variant& variant, int n, ScenarioOutcome unit) {
  runs_.push_back({variant.id, n, std::move(unit)});
}

void Comparison::discard() const {
  std::error_code none;
  fs::remove_all(dir_, none);
}

Status Comparison::write_list() const {
  Json runs = Json::array();
  for (const Run& run : runs_)
    runs.push_back({{"variant", run.id}, {"run", run.n}, {"dir", fmt::format("{}.{}", run.id, run.n)}});
  return write_json_to(dir_ + "/" + kList,
                       {{"schema", "rankfault.comparison.v1"}, {"runs", std::move(runs)}});
}

Result<RunReport> Comparison::finish() {
  if (Status written = write_list(); !written) return written.error();
  std::vector<JudgedVariant> variants;
  for (const Run& run : runs_)
    variants.push_back({{run.id, run.n, run.unit.facts.get()}, run.unit.report.judgement});
  RunReport report = report_of(variants);
  report.scenario = scenario_->name;
  report.file = scenario_->file;
  report.compared->dir = dir_;
  if (!runs_.empty()) report.began = runs_.front().unit.report.began;
  if (Status written = write_json_to(dir_ + "/result.json", result_json(report)); !written)
    return written.error();
  return report;
}

bool is_comparison(const std::string& dir) {
  std::error_code none;
  return fs::exists(fs::path(dir) / kList, none);
}

Result<RunReport> judge_comparison_dir(const std::string& dir) {
  const Result<Json> list = read_json(dir + "/" + kList);
  if (!list) return list.error();
  std::vector<FinishedRun> runs;
  std::vector<JudgedVariant> variants;
  std::string left;
  for (const Json& entry : list->value("runs", Json::array())) {
    const std::string name = entry.value("dir", "");
    if (name.empty() || name.find('/') != std::string::npos || name[0] == '.')
      return usage_error(
          dir + "/" + kList + ": each \"dir\" must be the name of a run directory in this folder", {});
    Result<FinishedRun> run = judge_run(dir + "/" + name);
    if (!run) return run.error();
    left += run->report.cleanup;
    variants.push_back(
        {{entry.value("variant", ""), entry.value("run", 1), run->facts.get()}, run->report.judgement});
    runs.push_back(std::move(*run));  // the move keeps the address of the facts
  }
  RunReport report = report_of(variants);
  report.compared->dir = dir;
  report.cleanup = left;
  if (!runs.empty()) report.began = runs.front().report.began;
  return report;
}

}  // namespace rankfault
