// wire_fields: makes a payload of a message, and a message of a payload, from one list of its fields.
//
//   struct PingMessage {
//     Instant sent;
//     static void fields(auto&& field) { field(&PingMessage::sent); }
//   };
//
// Integers have their own size, an int has 8 bytes, a bool, a char and an enum one. A text and a list begin
// with their u32 size. Every enum of a message names its last value by last_of().
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/nodes/wire.h"

namespace rankfault {

template <typename T>
concept HasFields = requires {
  T::fields([](auto...) {});
};

template <typename T>
inline constexpr bool is_list = false;
template <typename T>
inline constexpr bool is_list<std::vector<T>> = true;
template <typename T>
inline constexpr bool is_pair = false;
template <typename A, typename B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

// The least number of bytes of a value in a payload: a list that says to be longer than the payload is
// refused before anything is allocated for it.
template <typename T>
constexpr size_t least_bytes() {
  if constexpr (HasFields<T>) {
    size_t sum = 0;
    T::fields([&](auto... member) {
      ((sum += least_bytes<std::decay_t<decltype(std::declval<T&>().*member)>>()), ...);
    });
    return sum;
  } else if constexpr (is_pair<T>) {
    return least_bytes<typename T::first_type>() + least_bytes<typename T::second_type>();
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, char> || std::is_enum_v<T>) {
    return 1;
  } else if constexpr (std::is_integral_v<T>) {
    return std::is_same_v<T, int> ? 8 : sizeof(T);
  } else {
    return std::is_same_v<T, Instant> ? 8 : 4;
  }
}

template <typename T>
void write_field(Packer& out, const T& value) {
  if constexpr (HasFields<T>) {
    T::fields([&](auto... member) { (write_field(out, value.*member), ...); });
  } else if constexpr (is_list<T>) {
    out.u32(static_cast<uint32_t>(value.size()));
    for (const auto& one : value) write_field(out, one);
  } else if constexpr (is_pair<T>) {
    write_field(out, value.first);
    write_field(out, value.second);
  } else if constexpr (std::is_same_v<T, std::string>) {
    out.bytes(value);
  } else if constexpr (std::is_same_v<T, Instant>) {
    out.instant(value);
  } else if constexpr (least_bytes<T>() == 1) {
    out.u8(static_cast<uint8_t>(value));
  } else if constexpr (least_bytes<T>() == 4) {
    out.u32(value);
  } else {
    out.i64(static_cast<int64_t>(value));
  }
}

template <typename T>
void read_field(Unpacker& in, T& value) {
  if constexpr (HasFields<T>) {
    T::fields([&](auto... member) { (read_field(in, value.*member), ...); });
  } else if constexpr (is_list<T>) {
    value.resize(in.count(least_bytes<typename T::value_type>()));
    for (auto& one : value) read_field(in, one);
  } else if constexpr (is_pair<T>) {
    read_field(in, value.first);
    read_field(in, value.second);
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = in.text();
  } else if constexpr (std::is_same_v<T, Instant>) {
    value = in.instant();
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(std::min<int>(in.u8(), static_cast<int>(last_of(T{}))));
  } else if constexpr (least_bytes<T>() == 1) {
    value = static_cast<T>(in.u8());
  } else if constexpr (least_bytes<T>() == 4) {
    value = in.u32();
  } else {
    value = static_cast<T>(in.i64());
  }
}

template <HasFields Message>
std::string pack(const Message& message) {
  Packer out;
  write_field(out, message);
  return out.payload();
}

// An error: the payload is too short or too long for this message.
template <HasFields Message>
Result<Message> unpack(const std::string& payload) {
  Unpacker in(payload);
  Message message;
  read_field(in, message);
  if (const Status done = in.done(); !done) return done.error();
  return message;
}

}  // namespace rankfault
