// expectations: reads and writes `expect`. Each item is one oracle with its parameters: `- ended: {...}`.
#include <fmt/format.h>

#include <algorithm>

#include "harness/scenario/old_names.h"
#include "harness/scenario/scenario_fields.h"

namespace rankfault {
namespace {

// `id` belongs to the expectation, and each other key to the oracle.
void split_id(ExpectationSpec& out, Problems& problems) {
  auto* entries = std::get_if<Value::Map>(&out.params.data);
  if (!entries) return;
  const auto id =
      std::find_if(entries->begin(), entries->end(), [](const auto& e) { return e.first == "id"; });
  if (id == entries->end()) return;
  if (is_scalar(id->second))
    out.id = id->second.text;
  else
    problems.add("\"id\" must be text", id->second.pos);
  entries->erase(id);
}

std::optional<ExpectationSpec> read_item(const Value& item, Problems& problems) {
  ExpectationSpec spec;
  spec.pos = item.pos;
  if (is_scalar(item)) {
    spec.oracle = item.text;
    spec.params = map_value({}, item.pos);
    return spec;
  }
  if (!item.map() || item.map()->size() != 1) {
    problems.add(
        "write an expectation as one oracle and its parameters: \"- ended: {ranks: all, exit: zero}\"",
        item.pos);
    return std::nullopt;
  }
  const auto& [oracle, params] = item.map()->front();
  spec.oracle = oracle;
  spec.pos = params.key;
  spec.params = params.is_null() ? map_value({}, params.key) : params;
  split_id(spec, problems);
  return spec;
}

void use_present_name(ExpectationSpec& spec, Problems& problems) {
  const auto now = renamed_oracle(spec.oracle);
  if (!now) return;
  problems.warn(fmt::format("\"{}\" is now \"{}\"; the next release refuses the old name", spec.oracle, *now),
                spec.pos);
  spec.oracle = *now;
}

}  // namespace

bool read_value(const Value& value, const Key& key, std::vector<ExpectationSpec>& out, Problems& problems) {
  const Value::List* items = items_of(value, key, "expectations", problems);
  if (!items) return false;
  std::vector<std::string> written;  // the names of the oracles, as the file has them
  for (const Value& item : *items) {
    std::optional<ExpectationSpec> spec = read_item(item, problems);
    if (!spec) continue;
    written.push_back(spec->oracle);
    use_present_name(*spec, problems);
    out.push_back(std::move(*spec));
  }
  std::set<std::string> taken;
  for (const ExpectationSpec& spec : out) taken.insert(spec.id);
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i].id.empty()) out[i].id = fresh_id(written[i], taken);
  if (key.not_empty && items->empty())
    problems.add(fmt::format("\"{}\" is empty: {}", key.name, key.not_empty), value.pos);
  return true;
}

void read_expectations(const Value& value, std::vector<ExpectationSpec>& out, Problems& problems) {
  read_value(value, Key{{}, "expect"}, out, problems);
}

Value write_value(const std::vector<ExpectationSpec>& all, const SourcePos&) {
  Value::List items;
  for (const ExpectationSpec& spec : all) {
    Value params = spec.params;
    if (params.is_null()) params = map_value({}, spec.pos);
    params.key = spec.pos;
    if (params.map()) set_entry(params, "id", text_value(spec.id, spec.pos));
    items.push_back(map_value({{spec.oracle, std::move(params)}}, spec.pos));
  }
  return list_value(std::move(items));
}

Json shape_of(const std::vector<ExpectationSpec>*, const Rules&) {
  Json out = shape::list_of(Json::object());
  out["minItems"] = 1;
  out["maxItems"] = kMostItems;
  return out;
}

}  // namespace rankfault
