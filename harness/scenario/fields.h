// fields: the keys of one map of a scenario as a table. A row has a key, the member that keeps its value, and
// what the value may be. The row reads the key, writes it, and describes it in the JSON schema and the
// reference page.
#pragma once

#include <functional>
#include <utility>

#include "harness/scenario/field_types.h"
#include "harness/scenario/schema_shapes.h"

namespace rankfault {

template <typename S>
struct Field;
template <typename S>
using Fields = std::vector<Field<S>>;

// A struct that has a table: fields_of() finds it (scenario_fields.h).
template <typename S>
concept HasFields = requires(const S* s) {
  fields_of(s);
};

// The rows without the members of the struct: what the schema and the page need.
template <HasFields S>
const Keys& keys_of() {
  static const Fields<S>& fields = fields_of(static_cast<const S*>(nullptr));
  static const Keys keys(fields.begin(), fields.end());
  return keys;
}

// What is in an optional or in a list.
template <typename T>
struct Inner {
  using Type = T;
};
template <typename T>
struct Inner<std::optional<T>> : Inner<T> {};
template <typename T>
struct Inner<std::vector<T>> : Inner<T> {};

template <typename T>
using Words = std::vector<std::pair<std::string, T>>;  // each with what it means

template <typename T>
std::vector<std::string> texts_of(const Words<T>& words) {
  std::vector<std::string> out;
  for (const auto& [text, meaning] : words) out.push_back(text);
  return out;
}

std::vector<std::string> names_of(const Keys&);

// "unknown key "rnaks" in workload (did you mean "ranks"?)"
std::string unknown_key(const std::string& key, const std::string& owner,
                        const std::vector<std::string>& known);

// The parts that are the same for every struct.
bool is_a_map(const Value&, const std::string& owner, Problems&);
const Value* find_key(const Value& map, const Key&, const std::string& owner, Problems&);
void refuse_other_keys(const Value& map, const std::string& owner, const Keys&, Problems&);
bool says_more(const Value& written, const Value& written_default);
void refuse_word(const Value&, const Key&, const std::vector<std::string>& known, Problems&);
Json shape_of_map(const Keys&);
Json shape_of_maps(const Keys&, const Rules&);

// A scenario with more faults, expectations, mutation checks or variants is refused: the control page has no
// room for them.
inline constexpr size_t kMostItems = 256;

// The items of a list of maps; null, with a mistake, if it is not a list or has too many. `many`: "faults".
const Value::List* items_of(const Value&, const Key&, const char* many, Problems&);

template <typename S>
struct Field : Key {
  // Judges the value of a key that was read. The rows above are read, too.
  using Check = void (*)(const S&, const Key&, const Value&, Problems&);

  // `Owner` is S or a base of it.
  template <typename T, typename Owner>
  Field(const char* key, T Owner::*member, std::string phrase, Rules rules = {}, Check checked = nullptr)
      : Key{std::move(rules), key, std::move(phrase), {}}, check(checked) {
    using Below = typename Inner<T>::Type;
    if constexpr (HasFields<Below>) below = keys_of<Below>();
    if (shape.is_null()) shape = shape_of(static_cast<const T*>(nullptr), *this);
    read = [member](const Value& value, const Key& as, S& out, Problems& problems) {
      return read_value(value, as, out.*member, problems);
    };
    write = [member](const S& s, const SourcePos& pos) { return write_value(s.*member, pos); };
    written_default = write(S{}, {});
  }

  // The value is one of `words`.
  template <typename T, typename Owner>
  Field(const char* key, T Owner::*member, Words<T> words, std::string phrase, Rules rules = {})
      : Key{std::move(rules), key, std::move(phrase), {}}, check(nullptr) {
    shape = shape::one_of(texts_of(words));
    read = [member, words](const Value& value, const Key& as, S& out, Problems& problems) {
      for (const auto& [text, meaning] : words)
        if (is_scalar(value) && value.text == text) {
          out.*member = meaning;
          return true;
        }
      refuse_word(value, as, texts_of(words), problems);
      return false;
    };
    write = [member, words](const S& s, const SourcePos& pos) {
      for (const auto& [text, meaning] : words)
        if (meaning == s.*member) return text_value(text, pos);
      return Value{};
    };
    written_default = write(S{}, {});
  }

  std::function<bool(const Value&, const Key&, S&, Problems&)> read;
  std::function<Value(const S&, const SourcePos&)> write;
  Check check;
  Value written_default;
};

// Reads the keys of the table and leaves other keys alone. False: the value is not a map.
template <HasFields S>
bool read_keys(const Value& map, const std::string& owner, S& out, Problems& problems) {
  if (!is_a_map(map, owner, problems)) return false;
  if constexpr (requires { out.pos; }) out.pos = map.pos;
  for (const Field<S>& field : fields_of(&out)) {
    const Value* value = find_key(map, field, owner, problems);
    if (value && field.read(*value, field, out, problems) && field.check)
      field.check(out, field, *value, problems);
  }
  return true;
}

// The same, and refuses other keys. `owner` names the map in messages: "workload".
template <HasFields S>
bool read_map(const Value& map, const std::string& owner, S& out, Problems& problems) {
  if (!read_keys(map, owner, out, problems)) return false;
  refuse_other_keys(map, owner, keys_of<S>(), problems);
  return true;
}

// Writes `s` as the map from which it would be read, and leaves defaults out. The map gets the place of `s`;
// `pos` if `s` has none.
template <HasFields S>
Value write_map(const S& s, SourcePos pos) {
  if constexpr (requires { s.pos; }) pos = s.pos;
  Value out = map_value({}, pos);
  for (const Field<S>& field : fields_of(&s)) {
    Value value = field.write(s, pos);
    if (field.needed || field.always || says_more(value, field.written_default))
      set_entry(out, field.name, std::move(value));
  }
  return out;
}

template <HasFields S>
bool read_value(const Value& value, const Key& key, S& out, Problems& problems) {
  return read_map(value, key.name, out, problems);
}
template <HasFields S>
Value write_value(const S& s, const SourcePos& pos) {
  return write_map(s, pos);
}
template <HasFields S>
Json shape_of(const S*, const Rules&) {
  return shape_of_map(keys_of<S>());
}

// Lists of maps are written and described here. Each has its own rules for reading.
template <HasFields S>
Value write_value(const std::vector<S>& all, const SourcePos& pos) {
  Value::List items;
  for (const S& one : all) items.push_back(write_value(one, pos));
  return list_value(std::move(items));
}
template <HasFields S>
Json shape_of(const std::vector<S>*, const Rules& rules) {
  return shape_of_maps(keys_of<S>(), rules);
}

}  // namespace rankfault
