#include "harness/scenario/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "harness/base/suggest.h"
#include "harness/judge/oracle.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

constexpr const char* kImplicitExpectation = "finished_in_time";

bool blames(const Scenario& scenario, bool somebody) {
  return std::any_of(scenario.expect.begin(), scenario.expect.end(), [&](const ExpectationSpec& spec) {
    if (spec.oracle != "blamed") return false;
    const Value* kind = spec.params.find("kind");
    const bool none = spec.params.text == "none" || (kind && kind->text == "none");
    return none != somebody;
  });
}

void check_bug(const Scenario& scenario, Problems& problems) {
  if (scenario.bug && !scenario.faults.empty())
    problems.add("a scenario must not have both faults and a bug: a finding could come from either",
                 scenario.bug->pos);
  if (scenario.bug && !blames(scenario, true))
    problems.add("a bug needs an expectation that only it can meet: \"- blamed: {kind: ...}\"",
                 scenario.bug->pos);
  if (scenario.bug || !scenario.faults.empty()) return;
  for (const ExpectationSpec& spec : scenario.expect) {
    const Value* kind = spec.params.find("kind");
    const bool none = spec.params.text == "none" || (kind && kind->text == "none");
    if (spec.oracle == "blamed" && !none)
      problems.add("in a scenario without faults and without a bug, \"blamed\" must be none", spec.pos);
  }
}

void check_names_expectation(const Scenario& scenario, const std::string& id, const char* what,
                             const SourcePos& pos, Problems& problems) {
  std::vector<std::string> ids{kImplicitExpectation};
  for (const ExpectationSpec& spec : scenario.expect) ids.push_back(spec.id);
  if (std::find(ids.begin(), ids.end(), id) == ids.end())
    problems.add(fmt::format("{} names no expectation: \"{}\"{}", what, id, did_you_mean(id, ids)), pos);
}

void check_teeth(const Scenario& scenario, Problems& problems) {
  for (const Tooth& tooth : scenario.teeth) {
    check_names_expectation(scenario, tooth.must_fail, "must_fail", tooth.pos, problems);
    const auto same = std::count_if(scenario.teeth.begin(), scenario.teeth.end(),
                                    [&](const Tooth& other) { return other.id == tooth.id; });
    if (same > 1) problems.add(fmt::format("two mutation checks are called \"{}\"", tooth.id), tooth.pos);
  }
  if (scenario.must_be.kind == MustBe::Kind::kFail)
    check_names_expectation(scenario, scenario.must_be.expectation, "must_be", {scenario.file, 0, 0},
                            problems);
}

std::vector<Error> in_order(std::vector<Error> all) {
  std::stable_sort(all.begin(), all.end(), [](const Error& a, const Error& b) {
    return std::tie(a.where.line, a.where.column) < std::tie(b.where.line, b.where.column);
  });
  return all;
}

}  // namespace

void name_lone_parameters(Scenario& scenario) {
  for (ExpectationSpec& spec : scenario.expect) {
    const Oracle* oracle = Catalog<Oracle>::instance().find(spec.oracle);
    if (!oracle || oracle->params.empty() || spec.params.map()) continue;
    Value params = map_value({}, spec.params.pos);
    params.key = spec.params.key;
    set_entry(params, oracle->params.front().name, spec.params);
    spec.params = std::move(params);
  }
}

std::vector<int> victims_of(const FaultSpec& fault, int world_size) {
  return resolve(fault.ranks, world_size, {});
}

std::vector<int> victims_of(const Scenario& scenario) {
  std::vector<int> out;
  for (const FaultSpec& fault : scenario.faults)
    for (int rank : victims_of(fault, scenario.workload.ranks)) out.push_back(rank);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<Error> validate(const Scenario& written) {
  Scenario scenario = written;
  name_lone_parameters(scenario);
  Problems problems;
  validate_faults(scenario, problems);
  validate_expectations(scenario, problems);
  validate_variants(scenario, problems);
  check_bug(scenario, problems);
  check_teeth(scenario, problems);
  return in_order(problems.all());
}

std::vector<Error> all_mistakes(const ParsedScenario& parsed) {
  if (parsed.errors.empty()) return validate(parsed.scenario);
  Scenario scenario = parsed.scenario;
  name_lone_parameters(scenario);
  Problems problems;
  for (const FaultSpec& fault : scenario.faults)
    if (!fault.kind.empty()) look_up(fault, problems);
  for (const ExpectationSpec& spec : scenario.expect)
    if (!spec.oracle.empty()) look_up(spec, problems);
  std::vector<Error> all = parsed.errors;
  for (const Error& error : problems.all()) {
    const std::string place = error.where.to_string();
    if (std::none_of(parsed.errors.begin(), parsed.errors.end(),
                     [&](const Error& e) { return e.where.to_string() == place; }))
      all.push_back(error);  // else the parser reported it
  }
  return in_order(std::move(all));
}

}  // namespace rankfault
