// last_words: the end of a rank's own output, as ProcessEnd::last_words and RankEnd::last_words have it.
#pragma once

#include <string>
#include <vector>

namespace rankfault {

// After an exception of Python the first line is its text, and the second is this and the place.
inline constexpr const char* kRaisedIn = "raised in ";

inline bool is_exception(const std::vector<std::string>& last_words) {
  return last_words.size() > 1 && last_words[1].starts_with(kRaisedIn);
}

// How Python's faulthandler begins its report about a signal that ends the process.
inline constexpr const char* kFatalError = "Fatal Python error: ";

}  // namespace rankfault
