#include "harness/plan/apply.h"

#include "harness/scenario/scenario_parser.h"
#include "harness/scenario/scenario_tree.h"
#include "harness/scenario/yaml_tree.h"

namespace rankfault {
namespace {

// "faults.kill.at.nth=5" from the command line; the value is YAML.
Status set_from_command_line(Value& tree, const std::string& path, const std::string& text) {
  const std::string place = "--set " + path;
  const bool plain = text.empty() || std::string("[{'\"").find(text[0]) == std::string::npos;
  Result<Value> to = plain ? Result<Value>(plain_scalar(text, {place, 0, 0})) : read_yaml(text, place);
  if (!to) return to.error();
  to->key = {place, 0, 0};
  return set_in_tree(tree, path, *to);
}

void append(std::vector<std::string>& command, const std::vector<std::string>& args) {
  command.insert(command.end(), args.begin(), args.end());
}

// All changes by path, in one reading: of the variant, of the command line, of the tooth.
Result<Scenario> changed_by_path(const Scenario& written, const PlanOptions& options) {
  const Variant* variant = options.variant;
  const Tooth* tooth = options.tooth;
  if (options.set.empty() && !(variant && !variant->set.empty()) && !(tooth && !tooth->set.empty()))
    return written;
  Value tree = to_tree(written);
  if (variant)
    for (const auto& [path, to] : variant->set)
      if (Status ok = set_in_tree(tree, path, to); !ok) return ok.error();
  for (const auto& [path, text] : options.set)
    if (Status ok = set_from_command_line(tree, path, text); !ok) return ok.error();
  if (tooth)
    for (const auto& [path, to] : tooth->set)
      if (Status ok = set_in_tree(tree, path, to); !ok) return ok.error();
  ParsedScenario parsed = read_scenario_tree(tree, written.file, written.text);
  if (!parsed.errors.empty()) return parsed.errors.front();
  return std::move(parsed.scenario);
}

// As the changes left it: a tooth may change what a variant is.
const Variant* variant_in(const Scenario& scenario, const Variant* wanted) {
  if (!wanted) return nullptr;
  for (const Variant& variant : scenario.variants)
    if (variant.id == wanted->id) return &variant;
  return wanted;
}

}  // namespace

Result<Scenario> apply(const Scenario& written, const PlanOptions& options) {
  Result<Scenario> changed = changed_by_path(written, options);
  if (!changed) return changed;
  Workload& workload = changed->workload;
  const auto add_env = [&](const std::map<std::string, std::string>& env) {
    for (const auto& [name, text] : env) workload.env[name] = text;
  };
  if (const Variant* variant = variant_in(*changed, options.variant)) {
    append(workload.command, variant->args);
    add_env(variant->env);
    if (variant->ranks) workload.ranks = *variant->ranks;
  }
  if (options.bug_on && changed->bug) append(workload.command, changed->bug->args);
  if (options.tooth) {
    append(workload.command, options.tooth->args);
    add_env(options.tooth->env);
  }
  return changed;
}

}  // namespace rankfault
