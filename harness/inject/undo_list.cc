#include "harness/inject/undo_list.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rankfault {

Result<UndoList> UndoList::open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd.valid()) return errno_error("open " + path);
  return UndoList(std::move(fd));
}

Status UndoList::remove_file(const rf_file_id& file, const std::string& path) {
  rf_undo_entry entry{};
  entry.kind = RF_UNDO_FILE;
  entry.file = file;
  entry.text = path.c_str();
  return add(entry);
}

Status UndoList::remove_segment(int id, int maker, int64_t changed) {
  rf_undo_entry entry{};
  entry.kind = RF_UNDO_SEGMENT;
  entry.segment = id;
  entry.maker = maker;
  entry.changed = changed;
  return add(entry);
}

Status UndoList::restore_mode(const rf_file_id& file, unsigned mode, const std::string& path) {
  rf_undo_entry entry{};
  entry.kind = RF_UNDO_MODE;
  entry.file = file;
  entry.mode = mode;
  entry.text = path.c_str();
  return add(entry);
}

Status UndoList::continue_process(int pid, uint64_t start) {
  rf_undo_entry entry{};
  entry.kind = RF_UNDO_STOP;
  entry.pid = pid;
  entry.start = start;
  return add(entry);
}

Status UndoList::report_left(const std::string& what) {
  rf_undo_entry entry{};
  entry.kind = RF_UNDO_LEFT;
  entry.text = what.c_str();
  return add(entry);
}

Status UndoList::add(const rf_undo_entry& entry) {
  std::string text(256 + (entry.text ? std::strlen(entry.text) : 0), '\0');
  text.resize(rf_undo_format(&entry, text.data(), text.size()));
  const off_t end = ::lseek(fd_.get(), 0, SEEK_END);
  const ssize_t n = ::write(fd_.get(), text.data(), text.size());
  if (n == static_cast<ssize_t>(text.size())) return Done{};
  const Error error = errno_error("write the undo list", n < 0 ? errno : ENOSPC);
  if (n > 0 && end >= 0 && ::ftruncate(fd_.get(), end) != 0) return errno_error("repair the undo list");
  return error;
}

}  // namespace rankfault
