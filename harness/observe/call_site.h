// CallSites: return addresses of one process as places in its modules, and as source lines for people.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "harness/symbols/places.h"

namespace rankfault {

class CallSites {
 public:
  // Reads /proc/PID/maps; nothing changes when the process is gone.
  void read_maps(int pid) { map_.read(pid); }
  // The same after modules came: what was nowhere may be somewhere now.
  void modules_changed(int pid) {
    nowhere_.clear();
    read_maps(pid);
  }

  // Remembers the place of an address; false when no module known holds it.
  bool add(uint64_t address, Places& places);
  // No module holds it, as code that was made while the program runs: it is not looked for again.
  void is_nowhere(uint64_t address);
  const std::map<uint64_t, std::string>& all() const { return sites_; }           // "trainer+0x1050b"
  const std::map<uint64_t, std::string>& source_lines() const { return lines_; }  // "step.cc:12"

 private:
  MemoryMap map_;
  std::map<uint64_t, std::string> sites_, lines_;
  std::set<uint64_t> nowhere_;
};

}  // namespace rankfault
