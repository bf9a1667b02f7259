// undo_list: see undo_list.h.
#include "harness/inject/undo_list.h"

#include <fcntl.h>
#include <unistd.h>

namespace rankfault {

Result<UndoList> UndoList::open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd.valid()) return errno_error("open " + path);
  return UndoList(std::move(fd));
}

Status UndoList::add(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(fd_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return errno_error("write the undo list");
  return Done{};
}

}  // namespace rankfault
