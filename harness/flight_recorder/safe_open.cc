#include "harness/flight_recorder/safe_open.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>

namespace rankfault {
namespace {

const char* what_it_is(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISFIFO(mode)) return "a fifo";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

// `place` refers to a file without opening it (O_PATH), so the file that is opened is the one that was
// checked.
Result<UniqueFd> open_place(const UniqueFd& place) {
  struct stat info {};
  if (::fstat(place.get(), &info) != 0) return errno_error("stat");
  if (!S_ISREG(info.st_mode)) return refused(what_it_is(info.st_mode));
  const std::string same = "/proc/self/fd/" + std::to_string(place.get());
  UniqueFd fd(::open(same.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return refused(std::string("cannot be opened: ") + std::strerror(errno));
  return fd;
}

int place_in(int folder, const std::string& name) {
  struct open_how how {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const long fd = ::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how);
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(fd);
  return ::openat(folder, name.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW);
}

}  // namespace

Result<UniqueFd> open_file(const std::string& path) {
  const UniqueFd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place.valid()) return refused(std::string("cannot be opened: ") + std::strerror(errno));
  return open_place(place);
}

Result<UniqueFd> open_folder(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return refused(std::string("cannot be opened: ") + std::strerror(errno));
  return fd;
}

Result<UniqueFd> open_file_in(int folder, const std::string& name) {
  const UniqueFd place(place_in(folder, name));
  if (!place.valid() && errno == EXDEV) return refused("a symbolic link out of the folder");
  if (!place.valid()) return refused(std::string("cannot be opened: ") + std::strerror(errno));
  return open_place(place);
}

}  // namespace rankfault
