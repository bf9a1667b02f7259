// CallSites: return addresses of one process as "module+0xoffset", while its maps can be read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/observe/timeline.h"

namespace rankfault {

class CallSites {
 public:
  // Reads /proc/PID/maps; nothing changes when the process is gone.
  void read_maps(int pid);
  bool has_maps() const { return !modules_.empty(); }

  // Remembers the place of an address; false when no module known holds it.
  bool add(uint64_t address);
  const std::map<uint64_t, std::string>& all() const { return sites_; }

 private:
  struct Module {
    uint64_t begin, end, offset;
    std::string name;
  };
  std::vector<Module> modules_;  // executable mappings, by address
  std::map<uint64_t, std::string> sites_;
};

}  // namespace rankfault
