// undo_list: see undo_list.h.
#include "harness/inject/undo_list.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace rankfault {

Result<UndoList> UndoList::open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd.valid()) return errno_error("open " + path);
  return UndoList(std::move(fd));
}

Status UndoList::add(const std::string& line) {
  const std::string text = line + "\n";
  const off_t end = ::lseek(fd_.get(), 0, SEEK_END);
  const ssize_t n = ::write(fd_.get(), text.data(), text.size());
  if (n == static_cast<ssize_t>(text.size())) return Done{};
  const Error error = errno_error("write the undo list", n < 0 ? errno : ENOSPC);
  if (n > 0 && end >= 0 && ::ftruncate(fd_.get(), end) != 0) return errno_error("repair the undo list");
  return error;
}

}  // namespace rankfault
