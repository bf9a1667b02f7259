// select: -k, as pytest has it: words joined by "and", "or" and "not".
#pragma once

#include <string>

namespace rankfault {

// "hang and not mpi or crash": "and" binds tighter than "or"; a word matches as a part, in any case.
bool selected(const std::string& expression, const std::string& text);

}  // namespace rankfault
