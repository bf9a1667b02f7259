#include "harness/launch/posix_queues.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "harness/base/unique_fd.h"

namespace rankfault {
namespace {

constexpr long kMqueueMagic = 0x19800202;  // linux/magic.h has it only since 5.14

// If it is not mounted, makes a mount that no other process sees and that ends with the descriptor.
UniqueFd folder_of_queues() {
  UniqueFd folder(::open("/dev/mqueue", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct statfs what {};
  if (folder.valid() && ::fstatfs(folder.get(), &what) == 0 && what.f_type == kMqueueMagic) return folder;
  // By number: glibc has these functions since 2.36.
  const UniqueFd system(static_cast<int>(::syscall(SYS_fsopen, "mqueue", FSOPEN_CLOEXEC)));
  if (!system.valid() || ::syscall(SYS_fsconfig, system.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
    return UniqueFd();
  const UniqueFd mount(static_cast<int>(::syscall(SYS_fsmount, system.get(), FSMOUNT_CLOEXEC, 0)));
  if (!mount.valid()) return UniqueFd();
  return UniqueFd(::openat(mount.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

std::optional<std::set<std::string>> posix_queues(unsigned user) {
  UniqueFd folder = folder_of_queues();
  if (!folder.valid()) return std::nullopt;
  DIR* dir = ::fdopendir(folder.get());
  if (!dir) return std::nullopt;
  (void)folder.release();  // closedir closes it
  std::set<std::string> names;
  while (const dirent* entry = ::readdir(dir)) {
    struct stat st {};
    if (entry->d_name[0] == '.' && (!entry->d_name[1] || entry->d_name[1] == '.')) continue;
    if (::fstatat(::dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == user)
      names.insert(entry->d_name);
  }
  ::closedir(dir);
  return names;
}

}  // namespace rankfault
