#include "harness/scenario/yaml_mistakes.h"

#include <fmt/format.h>

#include <optional>
#include <sstream>
#include <vector>

namespace rankfault {
namespace {

// The first tab that indents a line, up to the line at which the parser stopped.
std::optional<SourcePos> indenting_tab(const std::string& text, const SourcePos& until) {
  std::istringstream in(text);
  int number = 0;
  for (std::string line; std::getline(in, line) && number < until.line;) {
    ++number;
    const size_t tab = line.find('\t');
    if (tab != std::string::npos && line.find_first_not_of(" \t") > tab)
      return SourcePos{until.file, number, static_cast<int>(tab) + 1};
  }
  return std::nullopt;
}

struct Open {
  char bracket;
  SourcePos at;
};

// Whether quotes and comments can begin behind this character: inside a word they are plain text.
bool ends_a_word(char before) { return std::string(" \n,[{:").find(before) != std::string::npos; }

// The innermost bracket that is open at the end of the text.
std::optional<Open> never_closed(const std::string& text, const std::string& file) {
  std::vector<Open> open;
  SourcePos at{file, 1, 0};
  char quote = 0, before = '\n';
  bool comment = false;
  for (const char c : text) {
    ++at.column;
    if (c == '\n') {
      ++at.line;
      at.column = 0;
      comment = false;
    } else if (comment) {
    } else if (quote) {
      if (c == quote && before != '\\') quote = 0;
    } else if ((c == '"' || c == '\'') && ends_a_word(before)) {
      quote = c;
    } else if (c == '#' && ends_a_word(before)) {
      comment = true;
    } else if ((c == '{' || c == '[') && (!open.empty() || ends_a_word(before))) {
      open.push_back({c, at});
    } else if ((c == '}' || c == ']') && !open.empty()) {
      open.pop_back();
    }
    before = c;
  }
  return open.empty() ? std::nullopt : std::optional(open.back());
}

}  // namespace

Error yaml_mistake(const std::string& text, const Error& noticed) {
  if (const auto tab = indenting_tab(text, noticed.where))
    return usage_error("a tab indents this line: YAML indents with blanks", *tab);
  const bool unclosed = noticed.message.find("flow not found") != std::string::npos;
  if (const auto open = unclosed ? never_closed(text, noticed.where.file) : std::nullopt)
    return usage_error(fmt::format("this \"{}\" is never closed", open->bracket), open->at);
  return noticed;
}

}  // namespace rankfault
