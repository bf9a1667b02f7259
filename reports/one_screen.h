// one_screen: fits a text for people on one screen of a terminal. What does not fit is shortened, part by
// part; `rankfault report` prints all of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankfault {

struct Screen {
  size_t columns = 80, rows = 24;
};

// The screen of the terminal behind a descriptor. Nothing: it is a file or a pipe, which has room for all.
std::optional<Screen> screen_of(int descriptor);
std::optional<Screen> screen_of_output();  // of standard output

// A part of a text. Parts with a lower `order` are shortened first; a part with kWhole never is.
struct TextPart {
  static constexpr int kWhole = 1000;
  std::string whole;
  std::string brief = {};
  int order = kWhole;
};

// How many rows a terminal of so many columns needs; colours take none.
size_t rows_of(std::string_view text, size_t columns);
// The first so many characters of a line; 0: all.
std::string first_columns(const std::string& line, size_t columns);

struct FittedText {
  std::string text;
  bool shortened = false;
};
// Without a screen, all parts are whole.
FittedText fit_on(const std::optional<Screen>&, const std::vector<TextPart>&);

}  // namespace rankfault
