// process_id: see process_id.h.
#include "harness/base/process_id.h"

#include <cinttypes>
#include <cstdio>

namespace rankfault {

std::string ProcessId::to_string() const {
  char text[128];
  std::snprintf(text, sizeof text, "%016" PRIx64 ".%" PRIu64 ".%d.%" PRIu64 ".%d", host, pid_ns, pid, start,
                image);
  return text;
}

}  // namespace rankfault
