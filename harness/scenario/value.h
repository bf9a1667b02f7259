// value: scenario Values to and from JSON, and small makers for code that builds a tree itself.
#pragma once

#include <string>

#include "harness/base/json.h"
#include "harness/scenario/scenario.h"

namespace rankfault {

Json to_json(const Value&);
Value value_from_json(const Json&);

Value text_value(std::string text, const SourcePos& pos = {});
Value int_value(int64_t number, const SourcePos& pos = {});
Value bool_value(bool yes, const SourcePos& pos = {});
Value list_value(Value::List items, const SourcePos& pos = {});
Value map_value(Value::Map entries = {}, const SourcePos& pos = {});
Value texts_value(const std::vector<std::string>& texts, const SourcePos& pos = {});

// Adds or replaces an entry of a map.
void set_entry(Value& map, const std::string& key, Value value);

bool is_scalar(const Value&);
std::string kind_of(const Value&);  // for messages: "a list", "a map", "nothing", "\"four\""

}  // namespace rankfault
