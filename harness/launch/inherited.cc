#include "harness/launch/inherited.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <vector>

namespace rankfault {
namespace {

std::vector<int>& inherited() {
  static std::vector<int> descriptors;
  return descriptors;
}

void close_at_exec(unsigned first, unsigned last) {
  if (first <= last) ::syscall(SYS_close_range, first, last, CLOSE_RANGE_CLOEXEC);
}

}  // namespace

void note_inherited_descriptors() {
  std::error_code none;
  std::vector<int> open;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    const std::string name = entry.path().filename().string();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    if (fd > 2) open.push_back(fd);
  }
  for (const int fd : open)  // the descriptor that read the list is closed by now
    if (const int flags = ::fcntl(fd, F_GETFD); flags >= 0 && !(flags & FD_CLOEXEC))
      inherited().push_back(fd);
  std::sort(inherited().begin(), inherited().end());
}

void keep_inherited_descriptors() {
  unsigned next = 3;
  for (const int fd : inherited()) {
    close_at_exec(next, static_cast<unsigned>(fd) - 1);
    next = static_cast<unsigned>(fd) + 1;
  }
  close_at_exec(next, ~0u);
}

}  // namespace rankfault
