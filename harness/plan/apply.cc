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

void add(Workload& workload, const Change& change) {
  append(workload.command, change.args);
  for (const auto& [name, text] : change.env) workload.env[name] = text;
}

// Returns the variant as the changes left it: a mutation check (tooth) may change a variant.
const Variant* variant_in(const Scenario& scenario, const Variant* wanted) {
  if (!wanted) return nullptr;
  for (const Variant& variant : scenario.variants)
    if (variant.id == wanted->id) return &variant;
  return wanted;
}

Status change(Value& tree, const PlanOptions& options) {
  for (const auto& [path, text] : options.set)
    if (Status ok = set_from_command_line(tree, path, text); !ok) return ok;
  if (options.tooth)
    for (const auto& [path, to] : options.tooth->set)
      if (Status ok = set_in_tree(tree, path, to); !ok) return ok;
  return Done{};
}

Result<Scenario> read_changed(const Value& tree, const Scenario& written) {
  ParsedScenario parsed = read_scenario_tree(tree, written.file, written.text);
  if (!parsed.errors.empty()) return parsed.errors.front();
  return std::move(parsed.scenario);
}

// Makes all changes by path. The changes of a variant come before those of the command line and of a tooth.
// But these may change the variant itself, so they are made before the variant is read, and again after its
// own changes.
Result<Scenario> changed_by_path(const Scenario& written, const PlanOptions& options) {
  Value tree = to_tree(written);
  if (Status ok = change(tree, options); !ok) return ok.error();
  Result<Scenario> changed = read_changed(tree, written);
  if (!changed) return changed;
  const Variant* variant = variant_in(*changed, options.variant);
  if (!variant || variant->set.empty()) return changed;
  for (const auto& [path, to] : variant->set)
    if (Status ok = set_in_tree(tree, path, to); !ok) return ok.error();
  if (Status ok = change(tree, options); !ok) return ok.error();
  return read_changed(tree, written);
}

bool changes_by_path(const PlanOptions& options) {
  return !options.set.empty() || (options.tooth && !options.tooth->set.empty()) ||
         (options.variant && !options.variant->set.empty());
}

}  // namespace

Result<Scenario> apply(const Scenario& written, const PlanOptions& options) {
  Result<Scenario> changed =
      changes_by_path(options) ? changed_by_path(written, options) : Result<Scenario>(written);
  if (!changed) return changed;
  Workload& workload = changed->workload;
  if (const Variant* variant = variant_in(*changed, options.variant)) {
    add(workload, *variant);
    if (variant->ranks) workload.ranks = *variant->ranks;
  }
  if (workload.cuda_double && !options.nccl.empty()) workload.nccl = options.nccl;
  if (options.bug_on && changed->bug) append(workload.command, changed->bug->args);
  if (options.tooth) add(workload, *options.tooth);
  return changed;
}

}  // namespace rankfault
