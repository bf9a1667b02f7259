// text: makes strings of foreign files safe to print and to put into JSON.
#pragma once

#include <string>
#include <string_view>

namespace rankfault {

// Appends `raw` to `out`, with '?' for each byte that is not UTF-8 and for control characters.
void append_clean(std::string_view raw, std::string& out);

bool is_clean(std::string_view raw);  // true: append_clean appends it unchanged

// The string that Python wrote as a quoted literal: 'a\x41' (pickle STRING); false when `literal` is not one.
bool unquoted(std::string_view literal, std::string& out);
// The string that Python wrote in raw-unicode-escape: Latin-1 and \u0041 (pickle UNICODE).
bool raw_unescaped(std::string_view raw, std::string& out);

}  // namespace rankfault
