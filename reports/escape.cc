#include "reports/escape.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "harness/base/mask.h"
#include "harness/base/printable.h"

namespace rankfault {
namespace {

size_t longest_run(const std::string& text, char of) {
  size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == of ? run + 1 : 0);
  return longest;
}

// U+FFFE and U+FFFF, in UTF-8.
bool is_no_xml_character(std::string_view three) {
  return three == "\xef\xbf\xbe" || three == "\xef\xbf\xbf";
}

// "all_reduce": an underscore that opens no emphasis.
bool is_in_word(const std::string& line, size_t at) {
  const auto is_of_word = [&](size_t i) {
    return i < line.size() && std::isalnum(static_cast<unsigned char>(line[i])) != 0;
  };
  return at > 0 && is_of_word(at - 1) && is_of_word(at + 1);
}

}  // namespace

std::string xml_text(const std::string& text) {
  const std::string safe = inert_text(masked_text(text));
  std::string out;
  for (size_t i = 0; i < safe.size(); ++i) {
    switch (safe[i]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (is_no_xml_character(std::string_view(safe).substr(i, 3))) {
          out += '?';
          i += 2;
        } else {
          out += safe[i];
        }
    }
  }
  return out;
}

std::string markdown_text(const std::string& text) {
  static constexpr std::string_view kMarkup = "\\`*_[]|#~$";
  const std::string line = inert_text(printable(masked_text(text)));
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '@') {
      out += "@&#8203;";  // a blank without width: else GitHub and GitLab notify a user of that name
    } else {
      if (kMarkup.find(c) != std::string_view::npos && !(c == '_' && is_in_word(line, i))) out += '\\';
      out += c;
    }
  }
  // At the begin of a line these open a list or a rule; a line that is empty would end a paragraph.
  if (!out.empty() && (out[0] == '-' || out[0] == '+' || out[0] == '=')) out.insert(0, 1, '\\');
  return out;
}

std::string markdown_code(const std::string& text) {
  std::string inside;
  for (const char c : inert_text(printable(masked_text(text)))) {
    if (c == '|') inside += '\\';  // a cell ends at it, even in code
    inside += c;
  }
  if (inside.empty()) return "";
  const std::string fence(longest_run(inside, '`') + 1, '`');
  const bool apart = inside.front() == '`' || inside.back() == '`';
  return fence + (apart ? " " : "") + inside + (apart ? " " : "") + fence;
}

std::string markdown_block(const std::string& text) {
  std::string inside = inert_text(masked_text(text));
  if (!inside.empty() && inside.back() != '\n') inside += '\n';
  const std::string fence(std::max<size_t>(3, longest_run(inside, '`') + 1), '`');
  return fence + "text\n" + inside + fence + "\n";
}

std::string github_message(const std::string& text) {
  std::string out;
  for (const char c : inert_text(masked_text(text))) {
    if (c == '%')
      out += "%25";
    else if (c == '\n')
      out += "%0A";
    else
      out += c;
  }
  return out;
}

std::string github_property(const std::string& text) {
  std::string out;
  for (const char c : github_message(printable(text))) {
    if (c == ':')
      out += "%3A";
    else if (c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

std::string cut_text(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace rankfault
