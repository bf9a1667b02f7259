#include "harness/flight_recorder/text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace rankfault {
namespace {

bool plain(unsigned char c) { return c >= 0x20 && c < 0x7f; }

// Tests eight bytes at a time: this bounds the speed of reading dumps.
bool all_plain(std::string_view s) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  size_t i = 0;
  for (; i + 8 <= s.size(); i += 8) {
    uint64_t w = 0;
    std::memcpy(&w, s.data() + i, 8);
    if (((w | (w - 0x20 * kOnes) | (w + kOnes)) & 0x80 * kOnes) != 0) return false;
  }
  for (; i < s.size(); ++i)
    if (!plain(static_cast<unsigned char>(s[i]))) return false;
  return true;
}

// Length of the UTF-8 character of several bytes at the start of `s`; 0 when there is none.
size_t multibyte(std::string_view s) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char c = at(0);
  const size_t length = c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
  if (length == 0 || s.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((at(i) & 0xc0) != 0x80) return 0;
  if ((c == 0xe0 && at(1) < 0xa0) || (c == 0xed && at(1) >= 0xa0)) return 0;
  if ((c == 0xf0 && at(1) < 0x90) || (c == 0xf4 && at(1) >= 0x90)) return 0;
  return length;
}

void append_utf8(uint32_t c, std::string& out) {
  const auto add = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xc0 | c >> 6), add(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    add(0xe0 | c >> 12), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
  } else {
    add(0xf0 | c >> 18), add(0x80 | (c >> 12 & 0x3f)), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
  }
}

// Reads `digits` hexadecimal digits at `at` and moves behind them.
bool hex(std::string_view s, size_t& at, size_t digits, uint32_t& value) {
  if (s.size() - at < digits) return false;
  const auto [stop, bad] = std::from_chars(s.data() + at, s.data() + at + digits, value, 16);
  if (bad != std::errc() || stop != s.data() + at + digits) return false;
  at += digits;
  return true;
}

}  // namespace

bool is_clean(std::string_view raw) { return all_plain(raw); }

void append_clean(std::string_view raw, std::string& out) {
  if (all_plain(raw)) {
    out.append(raw);
    return;
  }
  for (size_t i = 0; i < raw.size();) {
    const size_t more = plain(static_cast<unsigned char>(raw[i])) ? 1 : multibyte(raw.substr(i));
    if (more)
      out.append(raw.substr(i, more));
    else
      out += '?';
    i += std::max<size_t>(more, 1);
  }
}

bool unquoted(std::string_view literal, std::string& out) {
  if (literal.size() < 2 || literal.front() != literal.back()) return false;
  if (literal.front() != '\'' && literal.front() != '"') return false;
  const std::string_view s = literal.substr(1, literal.size() - 2);
  for (size_t i = 0; i < s.size();) {
    const char c = s[i++];
    if (c != '\\') {
      out += c;
      continue;
    }
    if (i == s.size()) return false;
    const char what = s[i++];
    uint32_t value = 0;
    switch (what) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case '\\':
      case '\'':
      case '"':
        out += what;
        break;
      case 'x':
        if (!hex(s, i, 2, value)) return false;
        out += static_cast<char>(value);
        break;
      default:
        return false;
    }
  }
  return true;
}

bool raw_unescaped(std::string_view raw, std::string& out) {
  for (size_t i = 0; i < raw.size();) {
    const auto c = static_cast<unsigned char>(raw[i++]);
    const char what = c == '\\' && i < raw.size() ? raw[i] : '\0';
    if (what != 'u' && what != 'U') {
      append_utf8(c, out);
      continue;
    }
    uint32_t value = 0;
    ++i;
    if (!hex(raw, i, what == 'u' ? 4 : 8, value) || value > 0x10ffff) return false;
    append_utf8(value, out);
  }
  return true;
}

}  // namespace rankfault
