// posix_queues: the POSIX message queues of this host, from the file system that lists them.
#pragma once

#include <optional>
#include <set>
#include <string>

namespace rankfault {

// Names of the queues that belong to `user`. Nothing: they cannot be listed here, because the file system is
// not at /dev/mqueue and may not be mounted.
std::optional<std::set<std::string>> posix_queues(unsigned user);

}  // namespace rankfault
