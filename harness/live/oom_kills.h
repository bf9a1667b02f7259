// OomKills: tells whether the kernel's out-of-memory killer ended a rank.
//
// The killer sends SIGKILL, and the exit status does not say who sent it. But the kernel counts its kills for
// each memory group (memory.events of cgroup v2, memory.oom_control of cgroup v1) and for the machine
// (/proc/vmstat), before it sends the signal: mm/oom_kill.c, __oom_kill_process(). OomKills reads the count
// when a rank begins and when SIGKILL has ended it. A count that has risen explains one end only.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace rankfault {

class OomKills {
 public:
  // `root`: where /proc and /sys/fs/cgroup lie; tests have a folder of their own.
  explicit OomKills(std::string root = "") : root_(std::move(root)) {}

  // Call while the process lives. Does nothing if its counts cannot be read.
  void watch(int pid);
  void forget(int pid) { watched_.erase(pid); }
  // Call after SIGKILL ended the process. Returns where the kernel counted a kill that explains no other end:
  // "memory group /job" or "this machine"; "" if there is none.
  std::string take(int pid);

 private:
  struct Count {
    std::string file, where;
  };
  std::optional<Count> count_of(int pid) const;

  std::string root_;
  std::map<int, Count> watched_;
  std::map<std::string, uint64_t> explained_;  // by file: the part of the count that is not news
};

}  // namespace rankfault
