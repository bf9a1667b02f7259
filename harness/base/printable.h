// printable: makes text of other programs safe for JSON, a terminal and the log of a CI server.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rankfault {

// Control characters, also those of Unicode that change the order of text, and bytes that are not UTF-8
// become
// '?'.
std::string printable(const char* text, size_t bytes);
inline std::string printable(std::string_view text) { return printable(text.data(), text.size()); }

// The same for a text of several lines: ends of lines stay, and a tab becomes a blank. A '?' is put into what
// a CI server would take for a command: "::error::" at the begin of a line, "##[group]", "##vso[...]".
std::string inert_text(std::string_view text);

}  // namespace rankfault
