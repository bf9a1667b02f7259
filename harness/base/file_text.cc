#include "harness/base/file_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "harness/base/unique_fd.h"

namespace rankfault {

std::string text_of_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[65536];
  while (file.valid()) {
    const ssize_t n = ::read(file.get(), part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(part, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace rankfault
