// MemoryMap: the files that a process has mapped executable, and their addresses: converts an address to a
// place in a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankfault {

struct Mapping {
  uint64_t begin = 0, end = 0, offset = 0;
  uint64_t device = 0, inode = 0;
  std::string path;  // as the kernel prints it; never empty
};

class MemoryMap {
 public:
  // Reads /proc/PID/maps. Returns false and changes nothing if the process is gone.
  bool read(int pid);
  // The same from a file with such a text.
  bool read_file(const std::string& path);
  bool empty() const { return mappings_.empty(); }
  const Mapping* find(uint64_t address) const;  // null: no file is mapped there
  const std::vector<Mapping>& all() const { return mappings_; }

 private:
  std::vector<Mapping> mappings_;  // by address
};

}  // namespace rankfault
