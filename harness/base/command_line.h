// command_line: the command of a running process in a form that may be shown.
#pragma once

#include <string>

namespace rankfault {

// Its words separated by blanks, shortened, with unprintable characters as "?" and secrets masked; "": it is
// gone.
std::string command_line(int pid);

}  // namespace rankfault
