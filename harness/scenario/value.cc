#include "harness/scenario/value.h"

#include <fmt/format.h>

namespace rankfault {

const Value* Value::find(const std::string& name) const {
  if (const Map* entries = map())
    for (const auto& [entry_key, value] : *entries)
      if (entry_key == name) return &value;
  return nullptr;
}

Json to_json(const Value& value) {
  struct Writer {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool yes) const { return yes; }
    Json operator()(int64_t number) const { return number; }
    Json operator()(double number) const { return number; }
    Json operator()(const std::string& text) const { return text; }
    Json operator()(const Value::List& items) const {
      Json out = Json::array();
      for (const Value& item : items) out.push_back(to_json(item));
      return out;
    }
    Json operator()(const Value::Map& entries) const {
      Json out = Json::object();
      for (const auto& [key, entry] : entries) out[key] = to_json(entry);
      return out;
    }
  };
  return std::visit(Writer{}, value.data);
}

Value value_from_json(const Json& json) {
  if (json.is_boolean()) return bool_value(json.get<bool>());
  if (json.is_number_integer()) return int_value(json.get<int64_t>());
  if (json.is_string()) return text_value(json.get<std::string>());
  Value value;
  if (json.is_number_float()) {
    value.data = json.get<double>();
    value.text = fmt::format("{}", json.get<double>());
  } else if (json.is_array()) {
    Value::List items;
    for (const Json& item : json) items.push_back(value_from_json(item));
    value.data = std::move(items);
  } else if (json.is_object()) {
    Value::Map entries;
    for (const auto& [key, entry] : json.items()) entries.emplace_back(key, value_from_json(entry));
    value.data = std::move(entries);
  }
  return value;
}

Value text_value(std::string text, const SourcePos& pos) {
  Value value;
  value.text = text;
  value.data = std::move(text);
  value.pos = value.key = pos;
  return value;
}

Value int_value(int64_t number, const SourcePos& pos) {
  Value value;
  value.data = number;
  value.text = std::to_string(number);
  value.pos = value.key = pos;
  return value;
}

Value bool_value(bool yes, const SourcePos& pos) {
  Value value;
  value.data = yes;
  value.text = yes ? "true" : "false";
  value.pos = value.key = pos;
  return value;
}

Value list_value(Value::List items, const SourcePos& pos) {
  Value value;
  value.data = std::move(items);
  value.pos = value.key = pos;
  return value;
}

Value map_value(Value::Map entries, const SourcePos& pos) {
  Value value;
  value.data = std::move(entries);
  value.pos = value.key = pos;
  return value;
}

Value texts_value(const std::vector<std::string>& texts, const SourcePos& pos) {
  Value::List items;
  for (const std::string& text : texts) items.push_back(text_value(text, pos));
  return list_value(std::move(items), pos);
}

void set_entry(Value& map, const std::string& key, Value value) {
  if (!map.map()) map.data = Value::Map{};
  auto& entries = std::get<Value::Map>(map.data);
  for (auto& [name, entry] : entries)
    if (name == key) {
      entry = std::move(value);
      return;
    }
  entries.emplace_back(key, std::move(value));
}

bool is_scalar(const Value& value) { return !value.is_null() && !value.list() && !value.map(); }

std::string kind_of(const Value& value) {
  if (value.is_null()) return "nothing";
  if (value.list()) return "a list";
  if (value.map()) return "a map";
  return fmt::format("\"{}\"", value.text);
}

}  // namespace rankfault
