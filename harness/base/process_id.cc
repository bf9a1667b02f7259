#include "harness/base/process_id.h"

#include <sys/stat.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>

#include "harness/agent/agent_abi.h"

namespace rankfault {

std::string ProcessId::to_string() const {
  char text[128];
  std::snprintf(text, sizeof text, "%016" PRIx64 ".%" PRIu64 ".%d.%" PRIu64 ".%d", host, pid_ns, pid, start,
                image);
  return text;
}

std::optional<ProcessId> process_id_from(std::string_view stem) {
  ProcessId id;
  int used = 0;
  const std::string text(stem);
  const int read = std::sscanf(text.c_str(), "%16" SCNx64 ".%" SCNu64 ".%d.%" SCNu64 ".%d%n", &id.host,
                               &id.pid_ns, &id.pid, &id.start, &id.image, &used);
  return read == 5 && static_cast<size_t>(used) == text.size() ? std::optional(id) : std::nullopt;
}

uint64_t this_host() {
  static const uint64_t host = [] {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string text;
    std::getline(file, text);
    return rf_hash_text(text.c_str());
  }();
  return host;
}

uint64_t own_pid_ns() {
  static const uint64_t here = [] {
    struct stat st {};
    return ::stat("/proc/self/ns/pid", &st) == 0 ? uint64_t{st.st_ino} : 0;
  }();
  return here;
}

bool is_visible_here(const ProcessId& id) {
  return (id.host == 0 || id.host == this_host()) && (id.pid_ns == 0 || id.pid_ns == own_pid_ns());
}

}  // namespace rankfault
