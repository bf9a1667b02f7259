// field_types: how the value of a key is read, written and described, for each type that a scenario's structs
// use.
//
// A type needs three functions: read_value() reports a mistake and returns false, write_value() gives a Value
// without data if the key is to be left out, and shape_of() gives the JSON schema.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/scenario/problems.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/value.h"

namespace rankfault {

// What may be said of a key besides its type and its meaning.
struct Rules {
  bool needed = false;
  bool always = false;        // written even with its default
  bool placeholders = false;  // {rank} and the like are replaced when the job starts
  int64_t least = 0;          // of a whole number, or of the length of a list of maps
  int64_t most = std::numeric_limits<int64_t>::max();  // of a whole number
  const char* not_empty = nullptr;                     // what to write into a list that is empty
  Json shape = nullptr;                                // in place of the schema that the type has
};

struct Key : Rules {
  std::string name;
  std::string doc = {};         // one phrase
  std::vector<Key> below = {};  // the keys of the map that is the value, or of each map in the list
};
using Keys = std::vector<Key>;

bool read_value(const Value&, const Key&, std::string&, Problems&);
bool read_value(const Value&, const Key&, bool&, Problems&);
bool read_value(const Value&, const Key&, Duration&, Problems&);
bool read_value(const Value&, const Key&, std::vector<std::string>&, Problems&);
bool read_value(const Value&, const Key&, std::map<std::string, std::string>&, Problems&);
bool read_value(const Value&, const Key&, Value::Map&, Problems&);

Value write_value(const std::string&, const SourcePos&);
Value write_value(bool, const SourcePos&);
Value write_value(Duration, const SourcePos&);
Value write_value(const std::vector<std::string>&, const SourcePos&);
Value write_value(const std::map<std::string, std::string>&, const SourcePos&);
Value write_value(const Value::Map&, const SourcePos&);

Json shape_of(const std::string*, const Rules&);
Json shape_of(const bool*, const Rules&);
Json shape_of(const Duration*, const Rules&);
Json shape_of(const std::vector<std::string>*, const Rules&);
Json shape_of(const std::map<std::string, std::string>*, const Rules&);
Json shape_of(const Value::Map*, const Rules&);

// Every whole number. `most`: the largest that the type can hold.
template <typename T>
concept Whole = std::integral<T> && !std::same_as<T, bool>;
std::optional<int64_t> read_whole(const Value&, const Key&, uint64_t most, Problems&);
Json shape_of_whole(const Rules&);
template <Whole T>
bool read_value(const Value& value, const Key& key, T& out, Problems& problems) {
  const auto number = read_whole(value, key, std::numeric_limits<T>::max(), problems);
  if (number) out = static_cast<T>(*number);
  return number.has_value();
}
template <Whole T>
Value write_value(T number, const SourcePos& pos) {
  return int_value(static_cast<int64_t>(number), pos);
}
template <Whole T>
Json shape_of(const T*, const Rules& rules) {
  return shape_of_whole(rules);
}

template <typename T>
bool read_value(const Value& value, const Key& key, std::optional<T>& out, Problems& problems) {
  T read{};
  if (!read_value(value, key, read, problems)) return false;
  out = std::move(read);
  return true;
}
template <typename T>
Value write_value(const std::optional<T>& value, const SourcePos& pos) {
  return value ? write_value(*value, pos) : Value{};
}
template <typename T>
Json shape_of(const std::optional<T>*, const Rules& rules) {
  return shape_of(static_cast<const T*>(nullptr), rules);
}

}  // namespace rankfault
