#include "harness/commands/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace rankfault {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool joins(const std::string& word) { return word == "and" || word == "or"; }

}  // namespace

Result<Selection> Selection::parse(const std::string& expression) {
  Selection all;
  std::istringstream words(lower(expression));
  std::string before;  // an operator that still needs a word
  bool negated = false;
  for (std::string word; words >> word;) {
    if (joins(word) && (all.any_of_.empty() || !before.empty()))
      return usage_error(fmt::format("-k \"{}\": \"{}\" needs a word before it", expression, word));
    if (word == "not") {
      negated = !negated;
      before = before.empty() ? "not" : before;
    } else if (joins(word)) {
      before = word;
      if (word == "or") all.any_of_.emplace_back();
    } else {
      if (all.any_of_.empty()) all.any_of_.emplace_back();
      all.any_of_.back().push_back({word, negated});
      negated = false;
      before.clear();
    }
  }
  if (!before.empty())
    return usage_error(fmt::format("-k \"{}\": \"{}\" needs a word after it", expression, before));
  return all;
}

bool Selection::matches(const std::string& text) const {
  const std::string within = lower(text);
  const auto holds = [&](const Word& w) { return (within.find(w.text) != std::string::npos) != w.negated; };
  return any_of_.empty() || std::any_of(any_of_.begin(), any_of_.end(), [&](const std::vector<Word>& all) {
           return std::all_of(all.begin(), all.end(), holds);
         });
}

}  // namespace rankfault
