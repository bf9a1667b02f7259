// samples: dumps for tests, as structs and as bytes.
#pragma once

#include <string>
#include <string_view>

#include "harness/flight_recorder/json_dump.h"
#include "harness/flight_recorder/pickle.h"

namespace rankfault::testing {

// Two groups, and three entries of different shapes: with stacks, without tensors, a send.
FrDump sample_dump(int64_t rank = 0);
FrEntry sample_entry(int64_t record_id);

Result<FrDump> from_pickle(std::string_view bytes, const FrLimits& limits = {}, const FrSink& sink = {});
Result<FrDump> from_json(std::string_view text, const FrLimits& limits = {}, const FrSink& sink = {});
// The message with which the reader refuses the bytes; "" if it accepts them.
std::string refusal(std::string_view bytes, const FrLimits& limits = {});

// Pieces of a pickle of protocol 2.
std::string text_op(std::string_view text);                               // BINUNICODE
std::string dump_with(std::string_view key, std::string_view value);      // {"version": "2.9", key: value}
std::string dump_of_entry(std::string_view key, std::string_view value);  // ... "entries": [{key: value}]
// The text that the reader makes from one plain value, or "error: ...".
std::string read_value(std::string_view value);

std::string gzipped(std::string_view bytes);

void expect_equal(const FrEntry& a, const FrEntry& b, bool with_frames = true);
void expect_equal(const FrDump& a, const FrDump& b, bool with_frames = true);

}  // namespace rankfault::testing
