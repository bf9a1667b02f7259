// CallSites: maps return addresses of one process to places in its modules, and to source lines for people. A
// call of a Python program has the frames of its Python code instead.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "harness/observe/python_frames.h"
#include "harness/symbols/places.h"

namespace rankfault {

class CallSites {
 public:
  explicit CallSites(const std::string& ring = "") : python_(ring) {}  // path of the flight record

  // Reads /proc/PID/maps or a copy of it; changes nothing when the process is gone.
  void read_maps(const std::string& maps) { map_.read_file(maps); }
  // Call after modules were loaded: an address without a module may have one now.
  void modules_changed(const std::string& maps) {
    nowhere_.clear();
    read_maps(maps);
  }

  // Remembers the place of an address; false when no known module holds it.
  bool add(uint64_t address, Places& places);
  // No module holds the address, as with code that is generated at run time: it is not looked up again.
  void is_nowhere(uint64_t address);
  const std::map<uint64_t, std::string>& all() const { return sites_; }           // "trainer+0x1050b"
  const std::map<uint64_t, std::string>& source_lines() const { return lines_; }  // "step.cc:12"

 private:
  void add_python(uint64_t where);

  PythonFrames python_;
  MemoryMap map_;
  std::map<uint64_t, std::string> sites_, lines_;
  std::set<uint64_t> nowhere_;
};

}  // namespace rankfault
