// run_files: see run_files.h. openat2 keeps every step of a path below the TMPDIR.
#include "harness/inject/run_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <filesystem>

#include "harness/inject/job_files.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;

UniqueFd open_below(int folder, const std::string& name, int flags, uint64_t stay = RESOLVE_NO_XDEV) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_NOFOLLOW | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | stay;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how)));
}

std::vector<std::string> names_below(const std::string& tmp, const std::string& pattern) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(tmp, error); !error && it != fs::end(it);
       it.increment(error)) {
    const std::string name = it->path().lexically_relative(tmp);
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_the_jobs(int file, Instant run_begin) {
  struct statx st {};
  if (::statx(file, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) != 0) return false;
  return S_ISREG(st.stx_mode) && st.stx_nlink == 1 && st.stx_uid == ::geteuid() && made_since(st, run_begin);
}

}  // namespace

std::vector<RunFile> run_files(const std::string& tmp, const std::string& pattern, Instant run_begin,
                               const std::string& seen_from) {
  std::vector<RunFile> files;
  if (tmp.empty()) return files;
  const std::string there = seen_from + tmp;
  const UniqueFd root(::open(there.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!root.valid()) return files;
  for (const std::string& name : names_below(there, pattern)) {
    const fs::path path(name);
    RunFile file;
    file.path = (fs::path(tmp) / path).string();
    const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
    file.folder =
        open_below(root.get(), folder, O_RDONLY | O_DIRECTORY, seen_from.empty() ? RESOLVE_NO_XDEV : 0);
    if (!file.folder.valid()) continue;
    // O_NONBLOCK: a pipe of that name must not block the harness.
    file.file = open_below(file.folder.get(), path.filename(), O_RDWR | O_NONBLOCK);
    if (file.file.valid() && is_the_jobs(file.file.get(), run_begin)) files.push_back(std::move(file));
  }
  return files;
}

Status truncate_file(RunFile& file, int64_t size) {
  struct stat st {};
  if (::fstat(file.file.get(), &st) != 0) return errno_error("stat " + file.path);
  if (st.st_size <= size) return refused(fmt::format("{} has {} bytes already", file.path, st.st_size));
  if (::ftruncate(file.file.get(), size) != 0) return errno_error("truncate " + file.path);
  return Done{};
}

Status flip_bit(RunFile& file, int64_t offset, int bit) {
  struct stat st {};
  if (::fstat(file.file.get(), &st) != 0) return errno_error("stat " + file.path);
  const int64_t at = offset < 0 ? st.st_size + offset : offset;
  unsigned char byte = 0;
  if (at < 0 || ::pread(file.file.get(), &byte, 1, at) != 1)
    return refused(fmt::format("{} has no byte {}", file.path, offset));
  byte = static_cast<unsigned char>(byte ^ (1u << bit));
  if (::pwrite(file.file.get(), &byte, 1, at) != 1) return errno_error("write " + file.path);
  return Done{};
}

// Refuses if the name does not name the opened file any more.
Status unlink_file(RunFile& file) {
  const std::string name = fs::path(file.path).filename();
  struct stat seen {
  }, now{};
  if (::fstat(file.file.get(), &seen) != 0 ||
      ::fstatat(file.folder.get(), name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0)
    return errno_error("stat " + file.path);
  if (seen.st_ino != now.st_ino || seen.st_dev != now.st_dev)
    return refused(file.path + " was replaced meanwhile");
  if (::unlinkat(file.folder.get(), name.c_str(), 0) != 0) return errno_error("unlink " + file.path);
  return Done{};
}

}  // namespace rankfault
