#include "harness/scenario/scenario_tree.h"

#include <fmt/format.h>

#include "harness/base/suggest.h"
#include "harness/scenario/scenario_fields.h"

namespace rankfault {

Value to_tree(const Trigger& at) { return write_map(at, at.pos); }

Value to_tree(const Scenario& scenario) { return write_map(scenario, {}); }

namespace {

// Returns the list item whose id is `id`. A fault, tooth or variant has the key itself. In an expectation,
// the map below the oracle's name has it.
Value* item_by_id(Value::List& items, const std::string& id, std::vector<std::string>& ids) {
  for (Value& item : items) {
    Value* holder = &item;
    if (item.map() && item.map()->size() == 1 && !item.find("id"))
      holder = &std::get<Value::Map>(item.data).front().second;
    const Value* own = holder->find("id");
    if (!own) continue;
    if (own->text == id) return holder;
    ids.push_back(own->text);
  }
  return nullptr;
}

Value* step_into(Value& at, const std::string& key, bool last, std::vector<std::string>& known) {
  if (auto* items = std::get_if<Value::List>(&at.data)) return item_by_id(*items, key, known);
  auto* entries = std::get_if<Value::Map>(&at.data);
  if (!entries) return nullptr;
  for (auto& [name, value] : *entries) {
    if (name == key) return &value;
    known.push_back(name);
  }
  if (!last) return nullptr;
  entries->emplace_back(key, Value{});
  return &entries->back().second;
}

}  // namespace

Status set_in_tree(Value& tree, const std::string& path, const Value& to) {
  Value* at = &tree;
  size_t begin = 0;
  while (true) {
    const size_t dot = path.find('.', begin);
    const std::string key = path.substr(begin, dot - begin);
    std::vector<std::string> known;
    at = step_into(*at, key, dot == std::string::npos, known);
    if (!at)
      return usage_error(
          fmt::format("unknown path \"{}\": \"{}\" does not exist{}", path, key, did_you_mean(key, known)),
          to.key);
    if (dot == std::string::npos) break;
    begin = dot + 1;
  }
  const SourcePos key = at->key;
  *at = to;
  if (at->key.line == 0) at->key = key;
  return Done{};
}

}  // namespace rankfault
