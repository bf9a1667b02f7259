// Json: the only JSON type of the harness. Keys keep the order in which they were written, so that files
// compare byte for byte.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/base/time.h"

namespace rankfault {
using Json = nlohmann::ordered_json;
}

// Instants and durations are unsigned nanoseconds.
template <>
struct nlohmann::adl_serializer<rankfault::Instant> {
  static void to_json(auto& json, rankfault::Instant at) { json = rankfault::ns_of(at); }
  static void from_json(const auto& json, rankfault::Instant& at) {
    at = rankfault::instant_of(json.template get<uint64_t>());
  }
};
template <>
struct nlohmann::adl_serializer<rankfault::Duration> {
  static void to_json(auto& json, rankfault::Duration span) { json = rankfault::ns_of(span); }
  static void from_json(const auto& json, rankfault::Duration& span) {
    span = rankfault::duration_of(json.template get<uint64_t>());
  }
};
