// command_line: the command of a running process, as it may be shown.
#pragma once

#include <string>

namespace rankfault {

// Its words with blanks between, shortened, unprintable characters as "?", secrets masked; "" it is gone.
std::string command_line(int pid);

}  // namespace rankfault
