#include "harness/scenario/one_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "faults/fault.h"
#include "harness/scenario/scenario_fields.h"
#include "harness/scenario/scenario_parser.h"
#include "harness/scenario/value.h"
#include "harness/scenario/yaml_tree.h"

namespace rankfault {
namespace {

constexpr const char* kFaultOption = "--fault";
constexpr const char* kExpectOption = "--expect";

bool belongs_to_trigger(const std::string& key) {
  static const std::vector<std::string> keys = names_of(keys_of<Trigger>());
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// Splits at the commas outside of brackets and quotes.
std::vector<std::pair<size_t, std::string>> split_pairs(const std::string& text, size_t begin) {
  std::vector<std::pair<size_t, std::string>> out;
  int depth = 0;
  char quote = 0;
  size_t from = begin;
  for (size_t i = begin; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    }
    if ((c == ',' && depth == 0 && !quote) || i == text.size()) {
      out.emplace_back(from, text.substr(from, i - from));
      from = i + 1;
    }
  }
  return out;
}

void move_right(Value& value, int columns) {
  for (SourcePos* pos : {&value.pos, &value.key})
    if (pos->line == 1) pos->column += columns;
  if (auto* items = std::get_if<Value::List>(&value.data))
    for (Value& item : *items) move_right(item, columns);
  if (auto* entries = std::get_if<Value::Map>(&value.data))
    for (auto& [key, entry] : *entries) move_right(entry, columns);
}

// A value that begins with a bracket or a quote is YAML. Any other value is taken literally, also `*.tmp`.
Result<Value> value_at(const std::string& option, const std::string& text, size_t offset) {
  if (text.empty() || std::string("[{'\"").find(text[0]) == std::string::npos)
    return plain_scalar(text, {option, 1, static_cast<int>(offset) + 1});
  Result<Value> value = read_yaml(text, option);
  if (!value) {
    Error error = value.error();
    if (error.where.line == 1) error.where.column += static_cast<int>(offset);
    return error;
  }
  move_right(*value, static_cast<int>(offset));
  return value;
}

// A parameter of the kind has precedence over a trigger's key of the same name ("path" of shm_unlink).
bool is_own(const std::string& kind_name, const std::string& key) {
  const FaultKind* kind = Catalog<FaultKind>::instance().find(kind_name);
  return kind && std::any_of(kind->params.begin(), kind->params.end(),
                             [&](const ParamSpec& spec) { return key == spec.name; });
}

Value default_expectations(const std::vector<std::string>& fault_ids) {
  Value::List out;
  const auto add = [&](const char* oracle, Value::Map params) {
    out.push_back(map_value({{oracle, map_value(std::move(params))}}));
  };
  if (fault_ids.empty()) {
    add("blamed", {{"kind", text_value("none")}});
    add("finished", {});
  }
  for (const std::string& id : fault_ids)
    add("unblocked",
        {{"ranks", text_value("all")}, {"within", text_value("30s")}, {"after", text_value(id)}});
  add("left_nothing", {});
  return list_value(std::move(out));
}

Result<Value> read_expects(const std::vector<std::string>& expects) {
  Value::List out;
  for (const std::string& text : expects) {
    Result<Value> value = read_yaml(text, kExpectOption);
    if (!value) return value.error();
    out.push_back(*value);
  }
  return list_value(std::move(out));
}

}  // namespace

Result<Value> fault_from_one_line(const std::string& text, const std::string& option) {
  const size_t at_sign = text.find('@');
  const std::string kind = text.substr(0, at_sign);
  const SourcePos begin{option, 1, 1};
  if (kind.empty()) return usage_error("write a fault as KIND@key=value,key=value", begin);
  Value fault = map_value({{"kind", text_value(kind, begin)}}, begin);
  Value trigger = map_value({}, begin);
  if (at_sign == std::string::npos) return fault;
  for (const auto& [offset, pair] : split_pairs(text, at_sign + 1)) {
    const SourcePos here{option, 1, static_cast<int>(offset) + 1};
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      return usage_error(fmt::format("\"{}\" must be key=value", pair), here);
    const std::string key = pair.substr(0, equals);
    Result<Value> value = value_at(option, pair.substr(equals + 1), offset + equals + 1);
    if (!value) return value.error();
    value->key = here;
    const std::string name = key == "rank" ? "ranks" : key;
    Value& into = belongs_to_trigger(name) && !is_own(kind, name) ? trigger : fault;
    if (into.find(name)) return usage_error(fmt::format("duplicate key \"{}\"", key), here);
    set_entry(into, name, std::move(*value));
  }
  if (!trigger.map()->empty()) set_entry(fault, "at", std::move(trigger));
  return fault;
}

ParsedScenario parse_command_line(int ranks, const std::string& launcher,
                                  const std::vector<std::string>& faults,
                                  const std::vector<std::string>& expects,
                                  const std::vector<std::string>& argv, const std::string& wall) {
  Value workload = map_value();
  set_entry(workload, "launcher", text_value(launcher.empty() ? "local" : launcher));
  set_entry(workload, "ranks", int_value(ranks));
  set_entry(workload, "command", texts_value(argv));
  if (!wall.empty()) set_entry(workload, "limits", map_value({{"wall", text_value(wall)}}));
  Value root = map_value();
  set_entry(root, "version", int_value(1));
  set_entry(root, "name", text_value("command-line"));
  set_entry(root, "workload", std::move(workload));
  std::vector<Error> errors;
  Value::List fault_values;
  for (size_t i = 0; i < faults.size(); ++i) {
    Result<Value> fault = fault_from_one_line(
        faults[i], faults.size() == 1 ? kFaultOption : fmt::format("{}#{}", kFaultOption, i + 1));
    if (fault)
      fault_values.push_back(*fault);
    else
      errors.push_back(fault.error());
  }
  std::vector<FaultSpec> specs;
  if (!fault_values.empty()) {
    Problems problems;  // reported below, with those of the whole tree
    set_entry(root, "faults", list_value(std::move(fault_values)));
    read_faults(*root.find("faults"), specs, problems);
  }
  std::vector<std::string> ids;
  for (const FaultSpec& spec : specs) ids.push_back(spec.id);
  Result<Value> expectations =
      expects.empty() ? Result<Value>(default_expectations(ids)) : read_expects(expects);
  if (!expectations) errors.push_back(expectations.error());
  set_entry(root, "expect", expectations ? std::move(*expectations) : default_expectations(ids));
  ParsedScenario parsed = read_scenario_tree(root, "", "");
  parsed.errors.insert(parsed.errors.begin(), errors.begin(), errors.end());
  return parsed;
}

Result<Scenario> scenario_from_command_line(int ranks, const std::string& launcher,
                                            const std::vector<std::string>& faults,
                                            const std::vector<std::string>& expects,
                                            const std::vector<std::string>& argv, const std::string& wall) {
  ParsedScenario parsed = parse_command_line(ranks, launcher, faults, expects, argv, wall);
  if (!parsed.errors.empty()) return parsed.errors.front();
  return std::move(parsed.scenario);
}

}  // namespace rankfault
