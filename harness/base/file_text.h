// file_text: a whole file, as one of /proc, whose process may end while it is read.
#pragma once

#include <string>

namespace rankfault {

// What could be read of it; "" when nothing could. (A std::ifstream that is read by its iterators throws when a
// read fails, as those of a process that has ended do.)
std::string text_of_file(const std::string& path);

}  // namespace rankfault
