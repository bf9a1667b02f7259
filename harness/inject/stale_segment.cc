// stale_segment: see stale_segment.h. Makes an unnamed file first, so that the undo list has its inode before
// the file has a name.
#include "harness/inject/stale_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "harness/launch/guardian/file_id.h"

namespace rankfault {
namespace {

constexpr char kFolder[] = "/dev/shm/";

Status check_name(const std::string& path) {
  if (!path.starts_with(kFolder)) return refused(path + " is not a segment");
  const std::string name = path.substr(sizeof kFolder - 1);
  if (name.empty() || name.find('/') != std::string::npos)
    return refused(path + " is not directly below /dev/shm");
  if (name.ends_with("XXXXXX"))
    return refused("the name is drawn at random: no segment can exist there before");
  return Done{};
}

Status fill(int file, int64_t size, int byte) {
  if (::ftruncate(file, size) != 0) return errno_error("set the size of the segment");
  const std::vector<char> block(byte == 0 ? 0 : 65536, static_cast<char>(byte));
  for (int64_t at = 0; !block.empty() && at < size;) {
    const auto part = static_cast<size_t>(std::min<int64_t>(size - at, static_cast<int64_t>(block.size())));
    const ssize_t written = ::pwrite(file, block.data(), part, at);
    if (written <= 0) return errno_error("fill the segment");
    at += written;
  }
  return Done{};
}

// A file that has no name yet.
Result<UniqueFd> make_segment(int64_t size, int byte) {
  UniqueFd file(::open(kFolder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.valid()) return errno_error("make a file in /dev/shm");
  if (Status ok = fill(file.get(), size, byte); !ok) return ok.error();
  return file;
}

Status give_name(int file, const std::string& path) {
  const std::string self = fmt::format("/proc/self/fd/{}", file);
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) return Done{};
  if (errno == EEXIST) return refused(path + " already exists");
  return errno_error("name the segment " + path);
}

Status note_names(int file, const std::vector<std::string>& paths, UndoList& undo) {
  struct statx st {};
  if (::statx(file, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) != 0)
    return errno_error("stat the segment");
  const rf_file_id id = rf_id_of_file(&st);
  for (const std::string& path : paths)
    if (Status ok = undo.remove_file(id, path); !ok) return ok;
  return Done{};
}

}  // namespace

Status leave_segment(const std::string& path, int64_t size, int byte, UndoList& undo) {
  if (Status ok = check_name(path); !ok) return ok;
  const Result<UniqueFd> file = make_segment(size, byte);
  if (!file) return file.error();
  if (Status ok = note_names(file->get(), {path}, undo); !ok) return ok;
  return give_name(file->get(), path);
}

Status replace_segment(const std::string& path, int64_t size, int byte, UndoList& undo) {
  if (Status ok = check_name(path); !ok) return ok;
  const Result<UniqueFd> file = make_segment(size, byte);
  if (!file) return file.error();
  const std::string before = fmt::format("{}.rankfault-{}", path, ::getpid());
  if (Status ok = note_names(file->get(), {before, path}, undo); !ok) return ok;
  if (Status ok = give_name(file->get(), before); !ok) return ok;
  if (::rename(before.c_str(), path.c_str()) == 0) return Done{};
  const Status failed = errno_error("replace " + path);
  ::unlink(before.c_str());
  return failed;
}

}  // namespace rankfault
