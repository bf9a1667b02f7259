// validate_expectations: checks that oracles exist, have the parameters that they need, and name ranks and
// faults of the scenario.
#include <fmt/format.h>

#include <algorithm>

#include "faults/fault.h"
#include "harness/base/suggest.h"
#include "harness/judge/oracle.h"
#include "harness/scenario/validate.h"

namespace rankfault {
namespace {

// An unknown kind counts as one that ends ranks: look_up reports it.
bool some_fault_may_end_a_rank(const Scenario& scenario) {
  return std::any_of(scenario.faults.begin(), scenario.faults.end(), [](const FaultSpec& fault) {
    const FaultKind* kind = Catalog<FaultKind>::instance().find(fault.kind);
    return !kind || kind->ends_ranks;
  });
}

void check_ranks(const Scenario& scenario, const Value& value, Problems& problems) {
  const Result<RankSet> set = read_rank_set(value);
  if (!set) return;  // reported by check_params
  const int ranks = scenario.workload.ranks;
  switch (set->kind) {
    case RankSet::Kind::kListed:
      if (set->ranks.back() >= ranks)
        problems.add(
            fmt::format("rank {} is not in this job: ranks are 0 to {}", set->ranks.back(), ranks - 1),
            value.pos);
      break;
    case RankSet::Kind::kSurvivors:
      if (!some_fault_may_end_a_rank(scenario))
        problems.add("\"survivors\" needs a fault that ends a rank; none does: write \"others\" or \"all\"",
                     value.pos);
      break;
    case RankSet::Kind::kVictims:
    case RankSet::Kind::kOthers:
      if (scenario.faults.empty())
        problems.add(fmt::format("\"{}\" needs a fault that has victims", value.text), value.pos);
      else if (set->kind == RankSet::Kind::kOthers &&
               victims_of(scenario).size() >= static_cast<size_t>(ranks))
        problems.add("\"others\" is empty: every rank is a victim", value.pos);
      break;
    case RankSet::Kind::kAll:
      break;
  }
}

void check_fault_id(const Scenario& scenario, const std::string& key, const Value& value,
                    Problems& problems) {
  std::vector<std::string> ids;
  for (const FaultSpec& fault : scenario.faults) ids.push_back(fault.id);
  if (std::find(ids.begin(), ids.end(), value.text) == ids.end())
    problems.add(
        fmt::format("\"{}\" names no fault: \"{}\"{}", key, value.text, did_you_mean(value.text, ids)),
        value.pos);
}

void check_values(const Scenario& scenario, const Oracle& oracle, const Value& params, Problems& problems) {
  for (const ParamSpec& spec : oracle.params) {
    const Value* value = params.find(spec.name);
    if (!value) continue;
    const std::string name = spec.name;
    if (spec.type == ParamType::kRankSet) check_ranks(scenario, *value, problems);
    if (name == "after" || name == "fault") check_fault_id(scenario, name, *value, problems);
  }
}

void check_one(const Scenario& scenario, const ExpectationSpec& spec, Problems& problems) {
  if (!look_up(spec, problems)) return;
  const Oracle* oracle = Catalog<Oracle>::instance().find(spec.oracle);
  check_values(scenario, *oracle, spec.params, problems);
  if (spec.oracle == "same_as_reference" && !scenario.reference_fault_free)
    problems.add("same_as_reference needs a reference: add \"reference: fault_free\"", spec.pos);
  if (oracle->check)
    if (Status ok = oracle->check(spec, scenario); !ok) problems.add(ok.error(), spec.pos);
}

}  // namespace

bool look_up(const ExpectationSpec& spec, Problems& problems) {
  const auto& oracles = Catalog<Oracle>::instance();
  const Oracle* oracle = oracles.find(spec.oracle);
  if (!oracle) {
    problems.add(fmt::format("unknown oracle \"{}\"{}", spec.oracle, oracles.did_you_mean(spec.oracle)),
                 spec.pos);
    return false;
  }
  const auto wrong = all_mistakes(spec.params, oracle->params, spec.oracle, {"id"});
  for (const Error& error : wrong) problems.add(error, spec.pos);
  return wrong.empty();
}

void validate_expectations(const Scenario& scenario, Problems& problems) {
  for (const ExpectationSpec& spec : scenario.expect) {
    if (spec.id.find_first_of(". \t") != std::string::npos)
      problems.add(fmt::format("the id \"{}\" must not contain a dot or a space", spec.id), spec.pos);
    const auto same = std::count_if(scenario.expect.begin(), scenario.expect.end(),
                                    [&](const ExpectationSpec& other) { return other.id == spec.id; });
    if (same > 1) problems.add(fmt::format("two expectations are called \"{}\"", spec.id), spec.pos);
    check_one(scenario, spec, problems);
  }
}

}  // namespace rankfault
