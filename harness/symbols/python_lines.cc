#include "harness/symbols/python_lines.h"

#include <climits>

namespace rankfault {
namespace {

uint8_t byte_at(std::string_view table, size_t i) { return static_cast<uint8_t>(table[i]); }
int8_t signed_at(std::string_view table, size_t i) { return static_cast<int8_t>(table[i]); }

// Pairs: so many bytes of code, then so many lines.
int64_t line_by_lnotab(int64_t line, std::string_view table, uint32_t at) {
  uint32_t address = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    address += byte_at(table, i);
    if (address > at) break;
    line += signed_at(table, i + 1);
  }
  return line;
}

// Pairs: the length of a range, and the difference of its line to the range before; -128: it has no line.
int64_t line_by_ranges(int64_t line, std::string_view table, uint32_t at) {
  uint32_t end = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    const int by = signed_at(table, i + 1);
    end += byte_at(table, i);
    if (by != -128) line += by;
    if (at < end) return by == -128 ? 0 : line;
  }
  return 0;
}

// Entries: a first byte with a form and a length in code units, then what the form has.
class LocationTable {
 public:
  LocationTable(int line, std::string_view table) : line_(line), table_(table) {}

  int64_t line_at(uint32_t at) {
    uint32_t end = 0;
    while (next_ < table_.size()) {
      const uint8_t first = byte_at(table_, next_++);
      const int form = first >> 3 & 15;
      end += ((first & 7u) + 1) * 2;
      line_ += step(form);
      if (is_damaged_) return 0;
      if (at < end) return form == kNoLine ? 0 : line_;
    }
    return 0;
  }

 private:
  static constexpr int kOneLine = 10, kNoColumns = 13, kLong = 14, kNoLine = 15;

  uint32_t number() {
    uint32_t value = 0;
    for (int shift = 0; shift < 30; shift += 6) {
      if (next_ >= table_.size()) break;
      const uint8_t part = byte_at(table_, next_++);
      value |= (part & 63u) << shift;
      if (!(part & 64)) return value;
    }
    is_damaged_ = true;
    return 0;
  }
  int signed_number() {
    const uint32_t value = number();
    return value & 1 ? -static_cast<int>(value >> 1) : static_cast<int>(value >> 1);
  }
  int step(int form) {
    if (form == kNoLine) return 0;
    if (form < kNoColumns) {
      next_ += form < kOneLine ? 1 : 2;  // columns
      return form < kOneLine ? 0 : form - kOneLine;
    }
    const int by = signed_number();
    if (form == kLong)
      for (int i = 0; i < 3; ++i) number();  // last line, columns
    return by;
  }

  int64_t line_;  // of a damaged table: any number
  std::string_view table_;
  size_t next_ = 0;
  bool is_damaged_ = false;
};

}  // namespace

int python_line(int minor, int first_line, std::string_view table, uint32_t at) {
  const int64_t line = minor < 10    ? line_by_lnotab(first_line, table, at)
                       : minor == 10 ? line_by_ranges(first_line, table, at)
                                     : LocationTable(first_line, table).line_at(at);
  return line > 0 && line <= INT_MAX ? static_cast<int>(line) : 0;
}

}  // namespace rankfault
