// segments.h: NCCL's segments that this process maps and that still have a name. An abort, or an end, may
// leave them in /dev/shm. After a try is given up, no process attaches to them.
#pragma once

#include <unistd.h>

#include <fstream>
#include <set>
#include <string>

namespace meeting {

inline void add_mapped_segments(std::set<std::string>& names) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t at = line.find("/dev/shm/nccl-");
    if (at != std::string::npos && line.find(" (deleted)") == std::string::npos)
      names.insert(line.substr(at));
  }
}

inline void remove(const std::set<std::string>& names) {
  for (const std::string& name : names) unlink(name.c_str());
}

}  // namespace meeting
