// ProcessId: a process for ever, not only while it lives: host, pid namespace, pid, start time,
// and how often it has called exec.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace rankfault {

struct ProcessId {
  uint64_t host = 0;
  uint64_t pid_ns = 0;
  int pid = 0;
  uint64_t start = 0;  // field 22 of /proc/PID/stat
  int image = 0;

  auto operator<=>(const ProcessId&) const =
      default;                    // NOLINT(modernize-use-nullptr): what the compiler makes
  std::string to_string() const;  // the stem of its files: "HOST.PIDNS.PID.START.IMAGE"
};

// This boot of this machine: what agents here write as their host.
uint64_t this_host();
uint64_t own_pid_ns();
// Its pid names it to us: in another pid namespace or on another host it names somebody else.
bool is_visible_here(const ProcessId&);

}  // namespace rankfault
