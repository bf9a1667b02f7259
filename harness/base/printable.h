// printable: makes text of other programs safe for JSON and a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rankfault {

// Control characters and bytes that are not UTF-8 become '?'.
std::string printable(const char* text, size_t bytes);
inline std::string printable(std::string_view text) { return printable(text.data(), text.size()); }

}  // namespace rankfault
