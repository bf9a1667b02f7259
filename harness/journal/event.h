// event: how one struct describes one kind of journal line. The struct lists its keys once; the writer, the
// reader and the reference page all use that list.
//
//   struct AttemptBegin {
//     static constexpr EventDoc kDoc{"attempt_begin", Section::kRun, "before an attempt is launched"};
//     int attempt = 0;
//     static void keys(auto&& key) { key("attempt", &AttemptBegin::attempt); }
//   };
//
// A key may have a text that explains its value: key("rank", &Spawned::rank, "-1: a launcher program").
// std::optional is absent from the line when it has no value.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/process_id.h"

namespace rankfault {

enum class Section { kRun, kFaults, kFindings, kCleanUp };

struct EventDoc {
  const char* name;     // the value of "ev"
  Section section;      // of docs/reference/journal.md
  const char* written;  // when it is written, and what it says
};

template <typename T>
concept HasKeys = requires {
  T::keys([](auto&&...) {});
};

template <typename T>
inline constexpr bool is_time = std::is_same_v<T, Instant> || std::is_same_v<T, Duration>;

// The Json of one value. A process is written as the stem of its files.
template <typename T>
Json event_value(const T& value);

template <HasKeys T>
Json keys_to_json(const T& of) {
  Json out = Json::object();
  T::keys([&](const char* name, auto member, const char* = "") {
    const auto& value = of.*member;
    if constexpr (requires { value.has_value(); }) {
      if (value) out[name] = event_value(*value);
    } else {
      out[name] = event_value(value);
    }
  });
  return out;
}

template <typename T>
Json event_value(const T& value) {
  if constexpr (std::is_same_v<T, ProcessId>) {
    return value.to_string();
  } else if constexpr (HasKeys<T>) {
    return keys_to_json(value);
  } else if constexpr (requires { requires HasKeys<typename T::value_type>; }) {
    Json out = Json::array();
    for (const auto& one : value) out.push_back(keys_to_json(one));
    return out;
  } else {
    return value;
  }
}

template <HasKeys T>
bool keys_from_json(const Json& from, T& to, std::string& wrong);

// Returns false if the value has another type.
template <typename T>
bool read_event_value(const Json& from, T& to, std::string& wrong) {
  if constexpr (std::is_same_v<T, Json>) {
    to = from;
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (from.is_boolean()) to = from.get<bool>();
    return from.is_boolean();
  } else if constexpr (std::is_arithmetic_v<T> || is_time<T>) {
    if (from.is_number()) to = from.get<T>();
    return from.is_number();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (from.is_string()) to = from.get<std::string>();
    return from.is_string();
  } else if constexpr (std::is_same_v<T, ProcessId>) {
    const auto id = from.is_string() ? process_id_from(from.get<std::string>()) : std::nullopt;
    if (id) to = *id;
    return id.has_value();
  } else if constexpr (HasKeys<T>) {
    return from.is_object() && keys_from_json(from, to, wrong);
  } else {  // a vector
    if (!from.is_array()) return false;
    for (const Json& one : from)
      if (!read_event_value(one, to.emplace_back(), wrong)) return false;
    return true;
  }
}

// A missing key keeps its default: a journal of an older version may lack it. Returns false, and the name of
// the key in `wrong`, if a value has another type.
template <HasKeys T>
bool keys_from_json(const Json& from, T& to, std::string& wrong) {
  bool right = true;
  T::keys([&](const char* name, auto member, const char* = "") {
    const auto found = from.find(name);
    if (found == from.end() || !right) return;
    auto& value = to.*member;
    if constexpr (requires { value.has_value(); })
      right = read_event_value(*found, value.emplace(), wrong);
    else
      right = read_event_value(*found, value, wrong);
    if (!right && wrong.empty()) wrong = name;
  });
  return right;
}

}  // namespace rankfault
