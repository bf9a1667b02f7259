#include "harness/commands/select.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace rankfault {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

bool selected(const std::string& expression, const std::string& text) {
  const std::string within = lower(text);
  std::istringstream words(lower(expression));
  bool any = false, all = true, negated = false;
  for (std::string word; words >> word;) {
    if (word == "and") continue;
    if (word == "not") {
      negated = !negated;
    } else if (word == "or") {
      any = any || all;
      all = true;
    } else {
      all = all && (within.find(word) != std::string::npos) != negated;
      negated = false;
    }
  }
  return any || all;
}

}  // namespace rankfault
