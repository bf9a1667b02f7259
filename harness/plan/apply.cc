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

}  // namespace

Result<Scenario> apply(const Scenario& written, const PlanOptions& options) {
  Scenario out = written;
  const bool by_path = !options.set.empty() || (options.tooth && !options.tooth->set.empty());
  if (by_path) {
    Value tree = to_tree(written);
    for (const auto& [path, text] : options.set)
      if (Status ok = set_from_command_line(tree, path, text); !ok) return ok.error();
    if (options.tooth)
      for (const auto& [path, to] : options.tooth->set)
        if (Status ok = set_in_tree(tree, path, to); !ok) return ok.error();
    ParsedScenario parsed = read_scenario_tree(tree, written.file, written.text);
    if (!parsed.errors.empty()) return parsed.errors.front();
    out = std::move(parsed.scenario);
  }
  if (options.bug_on && out.bug) append(out.workload.command, out.bug->args);
  if (options.tooth) {
    append(out.workload.command, options.tooth->args);
    for (const auto& [name, text] : options.tooth->env) out.workload.env[name] = text;
  }
  return out;
}

}  // namespace rankfault
