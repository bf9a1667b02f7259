// Texts: every text of the page passes here: made printable, with secrets masked, of bounded length. A table
// holds each repeated text once.
#pragma once

#include <string>
#include <unordered_map>

#include "harness/base/json.h"

namespace rankfault::html {

inline constexpr size_t kLongestText = 2000;

// Workload output is hostile: control characters and bytes that are not UTF-8 become '?'.
std::string clean(const std::string& text);

class Texts {
 public:
  uint32_t number_of(const std::string& text);
  Json take() { return std::move(table_); }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;  // by the text as it was given
  Json table_ = Json::array();
};

// JSON as it stands in a <script> element: ASCII, and without a character that HTML or JavaScript reads.
std::string for_script(const Json&);

}  // namespace rankfault::html
