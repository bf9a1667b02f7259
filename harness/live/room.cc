#include "harness/live/room.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>

#include "harness/agent/agent_abi.h"
#include "harness/agent/control_abi.h"
#include "harness/base/unique_fd.h"

namespace rankfault {
namespace {

constexpr uint64_t kRecordBytes = RF_LANE_HISTORY_OFFSET(1);       // of a rank with one calling thread
constexpr uint64_t kOtherBytes = sizeof(rf_control) + 512 * 1024;  // control page, plan, journal, results
constexpr uint64_t kLogBytes = 256 * 1024;                         // of what a rank prints
constexpr uint64_t kOwnDescriptors = 32, kDescriptorsOfARank = 1;  // its pidfd

std::string megabytes(uint64_t bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6); }

Status room_on_disk(const std::string& run_dir, uint64_t needed) {
  struct statvfs disk {};
  // Some file systems do not report their size.
  if (::statvfs(run_dir.c_str(), &disk) != 0 || disk.f_blocks == 0) return Done{};
  const uint64_t free = disk.f_bavail * disk.f_frsize;
  if (free >= needed) return Done{};
  return host_refused(fmt::format(
      "the disk of {} has {} left, and this run needs {}: --runs DIR or --run-dir DIR names another place",
      run_dir, megabytes(free), megabytes(needed)));
}

Status large_enough_files(uint64_t needed) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= needed)
    return Done{};
  return host_refused(fmt::format("files may have {} at most here (ulimit -f), and a run needs files of {}",
                                  megabytes(limit.rlim_cur), megabytes(needed)));
}

Status enough_descriptors(uint64_t needed) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max >= needed) return Done{};
  return host_refused(fmt::format("a process may open {} files here (ulimit -Hn), and this run needs {}",
                                  limit.rlim_max, needed));
}

// A process that the job left running may still write to its output. The kernel grants a read lease only if
// no process has the file open for writing.
bool nobody_writes(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd.valid() && ::fcntl(fd.get(), F_SETLEASE, F_RDLCK) == 0;
}

}  // namespace

Status room_for(const std::string& run_dir, int ranks) {
  const auto recorded = static_cast<uint64_t>(ranks);
  const uint64_t largest = std::max<uint64_t>(recorded ? kRecordBytes : 0, sizeof(rf_control));
  if (const Status files = large_enough_files(largest); !files) return files;
  if (const Status open = enough_descriptors(kOwnDescriptors + recorded * kDescriptorsOfARank); !open)
    return open;
  return room_on_disk(run_dir, kOtherBytes + recorded * (kRecordBytes + kLogBytes));
}

void reserve_logs(const std::vector<LaunchItem>& items) {
  for (const LaunchItem& item : items)
    for (const std::string& log : {item.command.stdout_path, item.command.stderr_path}) {
      if (log.empty()) continue;
      const UniqueFd fd(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
      if (fd.valid()) (void)::fallocate(fd.get(), FALLOC_FL_KEEP_SIZE, 0, kLogBytes);
    }
}

// Truncating a file to its own length frees the reserved room after its end.
void give_back_room(const std::string& folder) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    if (entry.is_regular_file(none) && nobody_writes(entry.path()))
      std::filesystem::resize_file(entry.path(), entry.file_size(none), none);
}

AllDescriptors::AllDescriptors() {
  if (::getrlimit(RLIMIT_NOFILE, &before_) != 0) before_ = {};
  const rlimit all{before_.rlim_max, before_.rlim_max};
  if (before_.rlim_max > before_.rlim_cur) ::setrlimit(RLIMIT_NOFILE, &all);
}

AllDescriptors::~AllDescriptors() {
  if (before_.rlim_max > before_.rlim_cur) ::setrlimit(RLIMIT_NOFILE, &before_);
}

}  // namespace rankfault
