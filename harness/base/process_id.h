// ProcessId: identifies a process forever, not only while it lives: host, pid namespace, pid, start time, and
// the number of its execs.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

std::optional<ProcessId> process_id_from(std::string_view stem);

// This boot of this machine: the host value in the records of local agents.
uint64_t this_host();
uint64_t own_pid_ns();
// Whether the pid is valid here: in another pid namespace or on another host it is a different process.
bool is_visible_here(const ProcessId&);

}  // namespace rankfault
