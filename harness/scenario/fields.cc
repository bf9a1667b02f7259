#include "harness/scenario/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/suggest.h"

namespace rankfault {

std::vector<std::string> names_of(const Keys& keys) {
  std::vector<std::string> out;
  for (const Key& key : keys) out.push_back(key.name);
  return out;
}

std::string unknown_key(const std::string& key, const std::string& owner,
                        const std::vector<std::string>& known) {
  if (key == "on")
    return fmt::format(
        "unknown key \"on\" (YAML 1.1 reads it as true): write when a fault fires under \"at\"");
  return fmt::format("unknown key \"{}\" in {}{}", key, owner, did_you_mean(key, known));
}

bool is_a_map(const Value& value, const std::string& owner, Problems& problems) {
  if (value.map()) return true;
  problems.add(fmt::format("{} must be a map of keys and values, not {}", owner, kind_of(value)), value.pos);
  return false;
}

const Value* find_key(const Value& map, const Key& key, const std::string& owner, Problems& problems) {
  const Value* value = map.find(key.name);
  if (!value && key.needed) problems.add(fmt::format("{} needs \"{}\"", owner, key.name), map.pos);
  return value;
}

void refuse_other_keys(const Value& map, const std::string& owner, const Keys& keys, Problems& problems) {
  const std::vector<std::string> known = names_of(keys);
  for (const auto& [key, entry] : *map.map())
    if (std::find(known.begin(), known.end(), key) == known.end())
      problems.add(unknown_key(key, owner, known), entry.key);
}

bool says_more(const Value& written, const Value& written_default) {
  if (written.list()) return !written.list()->empty();
  if (written.map()) return !written.map()->empty();
  return !written.is_null() && (written_default.is_null() || written.text != written_default.text);
}

void refuse_word(const Value& value, const Key& key, const std::vector<std::string>& known,
                 Problems& problems) {
  const std::string all_but_last = fmt::format("{}", fmt::join(known.begin(), known.end() - 1, ", "));
  problems.add(fmt::format("\"{}\" must be {}{}{}, not {}{}", key.name, all_but_last,
                           all_but_last.empty() ? "" : " or ", known.back(), kind_of(value),
                           did_you_mean(value.text, known)),
               value.pos);
}

Json shape_of_map(const Keys& keys) {
  Json properties = Json::object();
  std::vector<std::string> needed;
  for (const Key& key : keys) {
    properties[key.name] = shape::with_doc(key.shape, key.doc);
    if (key.needed) needed.push_back(key.name);
  }
  return shape::object(std::move(properties), needed);
}

Json shape_of_maps(const Keys& keys, const Rules& rules) {
  Json out = shape::list_of(shape_of_map(keys));
  if (rules.least > 0) out["minItems"] = rules.least;
  out["maxItems"] = kMostItems;
  return out;
}

const Value::List* items_of(const Value& value, const Key& key, const char* many, Problems& problems) {
  const Value::List* items = value.list();
  if (!items) {
    problems.add(fmt::format("\"{}\" must be a list, not {}", key.name, kind_of(value)), value.pos);
    return nullptr;
  }
  const size_t count = items->size();
  if (count <= kMostItems && count >= static_cast<size_t>(key.least)) return items;
  problems.add(
      key.least > 0
          ? fmt::format("\"{}\" must have {} to {} items, not {}", key.name, key.least, kMostItems, count)
          : fmt::format("{} {} are too many: a scenario can have at most {}", count, many, kMostItems),
      value.pos);
  return nullptr;
}

}  // namespace rankfault
