#include "reports/one_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace rankfault {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// The characters of a line, without its colours.
size_t width_of(std::string_view line) {
  size_t width = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = std::min(line.find('m', i), line.size());
      continue;
    }
    width += begins_character(line[i]);
  }
  return width;
}

std::string joined(const std::vector<TextPart>& parts, const std::vector<bool>& is_brief) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) text += is_brief[i] ? parts[i].brief : parts[i].whole;
  return text;
}

}  // namespace

std::optional<Screen> screen_of(int descriptor) {
  winsize size{};
  if (::isatty(descriptor) && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
      size.ws_row > 0)
    return Screen{size.ws_col, size.ws_row};
  return std::nullopt;
}

std::optional<Screen> screen_of_output() { return screen_of(STDOUT_FILENO); }

std::string first_columns(const std::string& line, size_t columns) {
  size_t width = 0;
  for (size_t i = 0; columns != 0 && i < line.size(); ++i)
    if (begins_character(line[i]) && ++width > columns) return line.substr(0, i);
  return line;
}

size_t rows_of(std::string_view text, size_t columns) {
  size_t rows = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    rows += std::max<size_t>(1, (width_of(text.substr(0, end)) + columns - 1) / columns);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return rows;
}

FittedText fit_on(const std::optional<Screen>& screen, const std::vector<TextPart>& parts) {
  std::vector<bool> is_brief(parts.size());
  std::vector<size_t> order;
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i].order != TextPart::kWhole && parts[i].brief != parts[i].whole) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return parts[a].order < parts[b].order; });
  FittedText fitted{joined(parts, is_brief)};
  if (!screen) return fitted;
  // One row stays for the prompt, and one for the line that names what was shortened.
  for (size_t i = 0; i < order.size() && rows_of(fitted.text, screen->columns) + 2 > screen->rows; ++i) {
    is_brief[order[i]] = true;
    fitted = {joined(parts, is_brief), true};
  }
  return fitted;
}

}  // namespace rankfault
