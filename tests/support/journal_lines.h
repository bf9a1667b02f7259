// journal_lines: hand-made journal lines. They are written as in the file; a missing n or t is 1.
#pragma once

#include "harness/base/assert.h"
#include "harness/journal/journal_line.h"

namespace rankfault {

inline JournalLine line_from(Json keys) {
  Json json{{"n", 1}, {"t", 1}};
  json.update(keys);
  Result<JournalLine> line = journal_line(Json::parse(json.dump()));  // parsed: its numbers are unsigned
  RF_ASSERT(line.ok(), "not a journal line");
  return std::move(*line);
}

inline void push_line(JournalLines& journal, Json keys) { journal.push_back(line_from(std::move(keys))); }

// Writes the line anew with this key.
inline void set_key(JournalLine& line, const char* key, Json value) {
  Json json = to_json(line);
  json[key] = std::move(value);
  line = line_from(std::move(json));
}

}  // namespace rankfault
