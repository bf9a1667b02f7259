// file_text: reads a whole file, such as one in /proc whose process may end during the read.
#pragma once

#include <cstdint>
#include <string>

namespace rankfault {

// Returns the part that could be read; "" if none. (A std::ifstream read by its iterators throws if a read
// fails, as it does for a process that has ended.)
std::string text_of_file(const std::string& path);

// Returns the last whole lines of a regular file, `most` bytes at most; "" of anything else, such as a
// terminal.
std::string tail_of_file(const std::string& path, size_t most);

// Returns a hash of the part that could be read: two files of equal size and hash are taken for equal.
uint64_t hash_of_file(const std::string& path);

}  // namespace rankfault
