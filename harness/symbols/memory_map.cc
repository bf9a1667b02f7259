#include "harness/symbols/memory_map.h"

#include <fmt/format.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace rankfault {

bool MemoryMap::read(int pid) { return read_file(fmt::format("/proc/{}/maps", pid)); }

bool MemoryMap::read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (!file) return false;
  std::vector<Mapping> found;
  char line[4096];
  while (std::fgets(line, sizeof line, file)) {
    Mapping m;
    char rights[8] = {};
    unsigned major = 0, minor = 0;
    int name_at = 0;
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &m.begin, &m.end,
                    rights, &m.offset, &major, &minor, &m.inode, &name_at) != 7 ||
        rights[2] != 'x' || name_at == 0)
      continue;
    m.device = makedev(major, minor);
    m.path.assign(line + name_at, std::strcspn(line + name_at, "\n"));
    if (!m.path.empty()) found.push_back(std::move(m));
  }
  std::fclose(file);
  if (found.empty()) return false;
  mappings_ = std::move(found);
  return true;
}

const Mapping* MemoryMap::find(uint64_t address) const {
  const auto after = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                      [](uint64_t a, const Mapping& m) { return a < m.begin; });
  if (after == mappings_.begin()) return nullptr;
  const Mapping& m = *std::prev(after);
  return address < m.end ? &m : nullptr;
}

}  // namespace rankfault
