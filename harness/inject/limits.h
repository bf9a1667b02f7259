// limits: lowers the soft limit of a process of the job (prlimit) to what the process uses of a resource,
// plus a little more. The kernel refuses what exceeds the limit; what is in use stays.
#pragma once

#include <cstdint>
#include <string>

#include "harness/base/result.h"

namespace rankfault {

struct SetLimit {
  uint64_t in_use = 0;
  uint64_t limit = 0;
  uint64_t before = 0;  // RLIM_INFINITY: there was none
};

// `resource` is RLIMIT_NOFILE (descriptors) or RLIMIT_DATA (bytes of private writable memory). Refused when
// the limit is already lower than that.
Result<SetLimit> limit_to_use(int pid, int resource, uint64_t spare);
Status restore_limit(int pid, int resource, const SetLimit&);

std::string resource_name(int resource);  // "RLIMIT_NOFILE"
std::string limit_text(uint64_t);         // a number, or "unlimited"

}  // namespace rankfault
