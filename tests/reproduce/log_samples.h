// log_samples: reads the text of a log as read_log does.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "harness/reproduce/logs/read_log.h"

namespace rankfault {

inline LogClues read_text(std::string_view text, const std::string& name = "job.log") {
  const std::unique_ptr<ByteSource> source = memory_source(text);
  return read_log_bytes(*source, name);
}

inline std::vector<Clue> clues_of(std::string_view text, const std::string& name = "job.log") {
  return read_text(text, name).clues;
}

// The only clue of the text.
inline Clue clue_of(std::string_view text, const std::string& name = "job.log") {
  std::vector<Clue> clues = clues_of(text, name);
  EXPECT_EQ(clues.size(), 1u) << text;
  for (size_t i = 1; i < clues.size(); ++i) ADD_FAILURE() << "also: " << clues[i].text;
  return clues.empty() ? Clue{} : clues.front();
}

// Those of one kind.
inline std::vector<Clue> of_kind(const std::vector<Clue>& clues, ClueKind kind) {
  std::vector<Clue> some;
  for (const Clue& clue : clues)
    if (clue.kind == kind) some.push_back(clue);
  return some;
}

using Ranks = std::vector<int>;

}  // namespace rankfault
