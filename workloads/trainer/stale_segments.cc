// Preflight, stale segments: files in /dev/shm that no process has mapped or open.
//
// A library maps its segment as soon as it has made it. So a segment that no process holds in two successive
// looks is left over from a job that was killed. The check ignores names that no known communication library
// uses.
#include <dirent.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <set>
#include <thread>

#include "workloads/trainer/preflight.h"

namespace trainer {

namespace {

using FileKey = std::pair<dev_t, ino_t>;

struct Segment {
  std::string path;
  struct stat status {};
};

constexpr const char* kNames[] = {"vader_segment.*", "sm_segment.*", "nccl-*",          "mpich_shar_tmp*",
                                  "torch_*",         "psm_shm.*",    "ucx_shm_posix_*", "osc_rdma.*"};

void each_name(const std::string& directory, const std::function<void(const std::string&)>& visit) {
  DIR* open = ::opendir(directory.c_str());
  if (!open) return;
  while (const dirent* entry = ::readdir(open))
    if (entry->d_name[0] != '.') visit(entry->d_name);
  ::closedir(open);
}

std::vector<Segment> segments_in(const std::string& directory) {
  std::vector<Segment> found;
  each_name(directory, [&](const std::string& name) {
    for (const char* known : kNames) {
      if (::fnmatch(known, name.c_str(), 0) != 0) continue;
      Segment segment{directory + "/" + name, {}};
      if (::lstat(segment.path.c_str(), &segment.status) == 0 && S_ISREG(segment.status.st_mode))
        found.push_back(segment);
      return;
    }
  });
  return found;
}

// The files that the processes of this host hold, as far as this user can see them.
std::set<FileKey> held_files() {
  std::set<FileKey> held;
  each_name("/proc", [&](const std::string& process) {
    if (process.find_first_not_of("0123456789") != std::string::npos) return;
    for (const char* kind : {"map_files", "fd"}) {
      const std::string base = "/proc/" + process + "/" + kind;
      each_name(base, [&](const std::string& name) {
        struct stat status {};
        if (::stat((base + "/" + name).c_str(), &status) == 0) held.insert({status.st_dev, status.st_ino});
      });
    }
  });
  return held;
}

std::vector<Segment> only_unheld(std::vector<Segment> segments) {
  if (segments.empty()) return segments;
  const std::set<FileKey> held = held_files();
  std::erase_if(segments, [&](const Segment& segment) {
    return held.count({segment.status.st_dev, segment.status.st_ino}) > 0;
  });
  // This user cannot look into the processes of another user, so it does not report that user's segments.
  if (::geteuid() != 0)
    std::erase_if(segments, [](const Segment& segment) { return segment.status.st_uid != ::geteuid(); });
  return segments;
}

}  // namespace

Defects stale_segments(const std::string& directory) {
  std::vector<Segment> unheld = only_unheld(segments_in(directory));
  if (!unheld.empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // a segment in the making is held by now
    unheld = only_unheld(std::move(unheld));
  }
  Defects defects;
  for (const Segment& segment : unheld) {
    std::string line = segment.path + " is held by no process: the leftover of a job that is gone";
    if (segment.status.st_size == 0) line += "; it is empty, and mapping it fails";
    if ((segment.status.st_mode & 0600) != 0600) line += "; its owner may not open it";
    defects.push_back(line);
  }
  return defects;
}

}  // namespace trainer
