// job_files: see job_files.h. A file belongs to the job if /proc shows its (device, inode) in a descendant of
// the guardian and in no other process.
#include "harness/inject/job_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <utility>

#include "harness/base/process_tree.h"

namespace rankfault {
namespace {

using FileKey = std::pair<uint64_t, uint64_t>;

void each_entry(const std::string& folder, const std::function<void(const std::string&)>& visit) {
  DIR* dir = ::opendir(folder.c_str());
  if (!dir) return;
  while (const dirent* entry = ::readdir(dir)) visit(entry->d_name);
  ::closedir(dir);
}

// Adds every (device, inode) that the process has mapped or open. Mappings are read from map_files, where
// stat gives the file's own device: on overlay file systems, the text of /proc/PID/maps has other device
// numbers.
void add_held(int pid, std::set<FileKey>& held) {
  for (const char* folder : {"map_files", "fd"}) {
    const std::string base = fmt::format("/proc/{}/{}", pid, folder);
    each_entry(base, [&](const std::string& name) {
      struct stat st {};
      if (name[0] != '.' && ::stat((base + "/" + name).c_str(), &st) == 0 && S_ISREG(st.st_mode))
        held.insert({st.st_dev, st.st_ino});
    });
  }
}

}  // namespace

// File systems stamp files with the coarse clock, so a stamp may be early by one tick of the slowest kernel
// (10 ms).
bool made_since(const struct statx& st, Instant run_begin) {
  using std::chrono::system_clock;
  const system_clock::time_point begin = system_clock::now() - (HostClock::now() - run_begin) - 10ms;
  const statx_timestamp& born = (st.stx_mask & STATX_BTIME) ? st.stx_btime : st.stx_ctime;
  return system_clock::time_point(std::chrono::seconds(born.tv_sec) +
                                  std::chrono::nanoseconds(born.tv_nsec)) >= begin;
}

std::vector<JobFile> job_files(const std::string& pattern, int guardian_pid, Instant run_begin) {
  glob_t found{};
  std::vector<JobFile> candidates;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      struct statx st {};
      if (::statx(AT_FDCWD, found.gl_pathv[i], AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &st) !=
              0 ||
          !S_ISREG(st.stx_mode))
        continue;
      if (!made_since(st, run_begin)) continue;
      candidates.push_back({found.gl_pathv[i], makedev(st.stx_dev_major, st.stx_dev_minor), st.stx_ino,
                            st.stx_mode, static_cast<int64_t>(st.stx_size)});
    }
  }
  ::globfree(&found);
  if (candidates.empty()) return {};

  std::set<FileKey> ours, others;
  const std::set<int> job = descendants_of(guardian_pid);
  each_entry("/proc", [&](const std::string& name) {
    const int pid = std::atoi(name.c_str());
    if (pid > 0) add_held(pid, job.count(pid) ? ours : others);
  });
  std::vector<JobFile> result;
  for (JobFile& file : candidates)
    if (ours.count({file.dev, file.ino}) && !others.count({file.dev, file.ino}))
      result.push_back(std::move(file));
  return result;
}

}  // namespace rankfault
