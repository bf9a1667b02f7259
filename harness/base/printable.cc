#include "harness/base/printable.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace rankfault {
namespace {

// Number of bytes of the character at `i`; 0: the bytes there are no character.
size_t length_at(std::string_view text, size_t i) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[i + k]); };
  const unsigned char c = byte(0);
  const size_t length = c < 0x80                ? 1
                        : c >= 0xc2 && c < 0xe0 ? 2
                        : c >= 0xe0 && c < 0xf0 ? 3
                        : c < 0xf5              ? 4
                                                : 0;
  if (c >= 0x80 && c < 0xc2) return 0;
  if (length == 0 || i + length > text.size()) return 0;
  for (size_t k = 1; k < length; ++k)
    if ((byte(k) & 0xc0) != 0x80) return 0;
  if (c == 0xe0 && byte(1) < 0xa0) return 0;   // longer than it must be
  if (c == 0xed && byte(1) >= 0xa0) return 0;  // half of a pair
  if (c == 0xf0 && byte(1) < 0x90) return 0;
  if (c == 0xf4 && byte(1) >= 0x90) return 0;  // beyond Unicode
  return length;
}

uint32_t character(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  uint32_t value = bytes.size() == 1 ? first : first & (0xffu >> (bytes.size() + 1));
  for (size_t k = 1; k < bytes.size(); ++k)
    value = value << 6 | (static_cast<unsigned char>(bytes[k]) & 0x3f);
  return value;
}

// A terminal may obey it, or show the text around it in another order.
bool is_control(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0x061c || c == 0x200e || c == 0x200f;
}

// GitHub's runner skips every blank of Unicode before a command.
bool is_blank(uint32_t c) {
  return c == ' ' || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

size_t first_not_blank(std::string_view line) {
  size_t at = 0;
  while (at < line.size()) {
    const size_t length = length_at(line, at);
    if (length == 0 || !is_blank(character(line.substr(at, length)))) break;
    at += length;
  }
  return at;
}

// Returns the line with a '?' in each word that GitHub, Azure or TeamCity would obey.
std::string without_commands(std::string line) {
  if (const size_t at = first_not_blank(line); line.compare(at, 2, "::") == 0) line.insert(at, 1, '?');
  for (size_t at = 0; (at = line.find("##", at)) != std::string::npos; ++at) {
    size_t end = at + 2;
    while (end < line.size() && std::isalpha(static_cast<unsigned char>(line[end]))) ++end;
    if (end < line.size() && line[end] == '[') line.insert(at + 2, 1, '?');
  }
  return line;
}

}  // namespace

std::string printable(const char* text, size_t bytes) {
  const std::string_view all(text, bytes);
  std::string out;
  for (size_t i = 0; i < bytes;) {
    const size_t length = length_at(all, i);
    if (length == 0 || is_control(character(all.substr(i, length))))
      out += '?';
    else
      out += all.substr(i, length);
    i += length == 0 ? 1 : length;
  }
  return out;
}

std::string inert_text(std::string_view text) {
  std::string out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line(text.substr(begin, end - begin));
    for (char& c : line)
      if (c == '\t') c = ' ';
    out += without_commands(printable(line));
    if (end == text.size()) break;
    out += '\n';
    begin = end + 1;
  }
  return out;
}

}  // namespace rankfault
