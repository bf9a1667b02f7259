// plan_json: writes and reads plan.json, which holds the scenario as the tree that it is read from.
#include <fmt/format.h>

#include "harness/plan/describe_plan.h"
#include "harness/plan/external_act.h"
#include "harness/scenario/scenario_fields.h"
#include "harness/scenario/scenario_parser.h"
#include "harness/scenario/scenario_tree.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

constexpr int kVersion = 1;

Json action_json(const Action& a) {
  return {{"id", a.id},
          {"fault", a.fault},
          {"rank", a.rank},
          {"at", to_json(to_tree(a.at))},
          {"verb", to_text(a.verb)},
          {"outside", a.outside},
          {"signal", a.signal},
          {"exit_code", a.exit_code},
          {"fail_code", a.fail_code},
          {"delay_ns", a.delay},
          {"path", a.path},
          {"env", a.env},
          {"size", a.size},
          {"mode", a.mode},
          {"times", a.times},
          {"every", a.every},
          {"ask", a.ask},
          {"each_attempt", a.each_attempt},
          {"after", a.after}};
}

Result<Trigger> trigger_from(const Json& json) {
  const Value tree = value_from_json(json);
  if (tree.map() && tree.map()->empty()) return Trigger{};
  Problems problems;
  Trigger at = read_trigger(tree, problems);
  if (!problems.empty()) return problems.all().front();
  return at;
}

Result<Action> action_from(const Json& json) {
  const std::string verb_word = json.at("verb"), outside = json.at("outside");
  const auto verb = verb_from_text(verb_word);
  if (!verb || !is_act(outside))
    return usage_error(fmt::format("an action has the unknown verb \"{}\" or \"{}\"", verb_word, outside));
  Result<Trigger> at = trigger_from(json.at("at"));
  if (!at) return at.error();
  Action a;
  a.at = *at;
  a.verb = *verb;
  a.outside = outside;
  a.id = json.at("id");
  a.fault = json.at("fault");
  a.rank = json.at("rank");
  a.signal = json.at("signal");
  a.exit_code = json.at("exit_code");
  a.fail_code = json.at("fail_code");
  a.delay = json.at("delay_ns").get<Duration>();
  a.path = json.at("path");
  a.env = json.value("env", std::map<std::string, std::string>{});
  a.size = json.at("size");
  a.mode = json.at("mode");
  a.times = json.at("times");
  a.every = json.at("every");
  a.ask = json.at("ask");
  a.each_attempt = json.at("each_attempt");
  a.after = json.at("after");
  return a;
}

Result<Plan> read_plan(const Json& json) {
  Plan plan;
  ParsedScenario parsed =
      read_scenario_tree(value_from_json(json.at("scenario")), json.at("file"), json.at("text"));
  if (!parsed.errors.empty()) return parsed.errors.front();
  plan.scenario = std::move(parsed.scenario);
  plan.tooth = json.at("tooth");
  plan.variant = json.value("variant", "");
  plan.bug_on = json.at("bug_on");
  plan.faults_on = json.at("faults_on");
  plan.seed = json.at("seed");
  for (const Json& item : json.at("actions")) {
    Result<Action> action = action_from(item);
    if (!action) return action.error();
    plan.actions.push_back(std::move(*action));
  }
  plan.preload = json.at("preload").get<std::vector<std::string>>();
  plan.notes = json.at("notes").get<std::vector<std::string>>();
  plan.scenario_digest = json.at("digest");
  plan.reference_run = json.at("reference_run");
  return plan;
}

}  // namespace

Json to_json(const Plan& plan) {
  Json actions = Json::array();
  for (const Action& action : plan.actions) actions.push_back(action_json(action));
  return {{"version", kVersion},
          {"tooth", plan.tooth},
          {"variant", plan.variant},
          {"bug_on", plan.bug_on},
          {"faults_on", plan.faults_on},
          {"seed", plan.seed},
          {"digest", plan.scenario_digest},
          {"reference_run", plan.reference_run},
          {"preload", plan.preload},
          {"notes", plan.notes},
          {"actions", std::move(actions)},
          {"scenario", to_json(to_tree(plan.scenario))},
          {"file", plan.scenario.file},
          {"text", plan.scenario.text}};
}

Result<Plan> plan_from_json(const Json& json) {
  try {
    if (json.at("version") != kVersion)
      return usage_error("plan.json is of another version of rankfault: use that version");
    return read_plan(json);
  } catch (const Json::exception& e) {
    return usage_error(fmt::format("not a plan: {}", e.what()));
  }
}

}  // namespace rankfault
