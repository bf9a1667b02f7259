#include "harness/reproduce/logs/log_lines.h"

#include <algorithm>
#include <cstring>

namespace rankfault {
namespace {

constexpr size_t kLongestTitle = 512;  // of a window or a link
constexpr size_t kBufferBytes = size_t{256} << 10;
static_assert(kBufferBytes > 2 * kLongestLine);

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

// Returns the place behind the escape sequence that begins at `at` (ECMA-48). One without an end takes the
// two bytes of its begin only, so that it hides no message.
size_t after_escape(std::string_view line, size_t at) {
  const size_t kind = at + 1;
  if (kind >= line.size()) return line.size();
  if (line[kind] == '[') {
    size_t end = kind + 1;
    while (end < line.size() && line[end] >= 0x20 && line[end] <= 0x3f) ++end;
    return end < line.size() && line[end] >= 0x40 && line[end] <= 0x7e ? end + 1 : kind + 1;
  }
  if (line[kind] == ']' || line[kind] == 'P' || line[kind] == '^' || line[kind] == '_') {
    const size_t most = std::min(line.size(), kind + kLongestTitle);
    for (size_t end = kind + 1; end < most; ++end) {
      if (line[end] == '\a') return end + 1;
      if (line[end] == '\x1b' && end + 1 < line.size() && line[end + 1] == '\\') return end + 2;
    }
    return kind + 1;
  }
  if (line[kind] == '(' || line[kind] == ')') return std::min(kind + 2, line.size());
  return kind + 1;
}

}  // namespace

LogLines::LogLines(ByteSource& source) : source_(source), buffer_(new char[kBufferBytes]) {}

bool LogLines::fill() {
  if (error_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const Result<size_t> count = source_.read(buffer_.get() + end_, kBufferBytes - end_);
  if (!count) {
    error_ = std::make_unique<Error>(count.error());
    return false;
  }
  end_ += *count;
  bytes_ += *count;
  return *count > 0;
}

bool LogLines::next(std::string_view& line) {
  size_t looked = 0;  // bytes behind begin_ without an end of line
  for (;;) {
    const char* const from = buffer_.get() + begin_;
    const size_t have = end_ - begin_;
    const void* const found = std::memchr(from + looked, '\n', have - looked);
    const size_t size = found ? static_cast<size_t>(static_cast<const char*>(found) - from) : have;
    if (skips_) {
      begin_ += found ? size + 1 : size;
      looked = 0;
      skips_ = !found;
      if (!found && !fill()) return false;
      continue;
    }
    if (size >= kLongestLine) {
      line = {from, kLongestLine};
      begin_ += kLongestLine;
      skips_ = true;
      ++number_;
      return true;
    }
    if (found) {
      line = {from, size};
      begin_ += size + 1;
      ++number_;
      return true;
    }
    looked = have;
    if (fill()) continue;
    if (end_ == begin_) return false;
    line = {buffer_.get() + begin_, end_ - begin_};  // without an end of line
    begin_ = end_;
    ++number_;
    return true;
  }
}

bool has_controls(std::string_view line) {
  for (const char c : line)
    if (is_control(c)) return true;
  return false;
}

std::string without_controls(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  std::string shown;
  shown.reserve(line.size());
  for (size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (c == '\x1b') {
      at = after_escape(line, at);
      continue;
    }
    if (c == '\r') shown.clear();
    if (!is_control(c)) shown += c;
    ++at;
  }
  return shown;
}

}  // namespace rankfault
