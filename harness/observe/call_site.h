// CallSites: return addresses of one process as places in its modules, and as source lines for people.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "harness/symbols/places.h"

namespace rankfault {

class CallSites {
 public:
  // Reads /proc/PID/maps; nothing changes when the process is gone.
  void read_maps(int pid) { map_.read(pid); }

  // Remembers the place of an address; false when no module known holds it.
  bool add(uint64_t address, Places& places);
  const std::map<uint64_t, std::string>& all() const { return sites_; }           // "trainer+0x1050b"
  const std::map<uint64_t, std::string>& source_lines() const { return lines_; }  // "step.cc:12"

 private:
  MemoryMap map_;
  std::map<uint64_t, std::string> sites_, lines_;
};

}  // namespace rankfault
