// call_site: see call_site.h.
#include "harness/observe/call_site.h"

#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "harness/observe/ring_reader.h"

namespace rankfault {
namespace {

constexpr size_t kMostSites = 1024;  // a program that calls from more places than that is generated code

}  // namespace

void CallSites::read_maps(int pid) {
  std::FILE* file = std::fopen(fmt::format("/proc/{}/maps", pid).c_str(), "re");
  if (!file) return;
  std::vector<Module> found;
  char line[4096];
  while (std::fgets(line, sizeof line, file)) {
    Module m{};
    char rights[8] = {};
    int name_at = 0;
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &m.begin, &m.end, rights,
                    &m.offset, &name_at) != 4 ||
        rights[2] != 'x' || name_at == 0)
      continue;
    const char* path = line + name_at;
    const char* slash = std::strrchr(path, '/');
    const char* base = slash ? slash + 1 : path;
    m.name = printable(base, std::strcspn(base, "\n"));
    if (!m.name.empty()) found.push_back(std::move(m));
  }
  std::fclose(file);
  if (!found.empty()) modules_ = std::move(found);
}

bool CallSites::add(uint64_t address) {
  if (address == 0 || sites_.count(address) || sites_.size() >= kMostSites) return true;
  const auto after = std::upper_bound(modules_.begin(), modules_.end(), address,
                                      [](uint64_t a, const Module& m) { return a < m.begin; });
  if (after == modules_.begin()) return false;
  const Module& m = *std::prev(after);
  if (address >= m.end) return false;
  sites_[address] = fmt::format("{}+0x{:x}", m.name, address - m.begin + m.offset);
  return true;
}

}  // namespace rankfault
