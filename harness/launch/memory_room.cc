#include "harness/launch/memory_room.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace rankfault {
namespace {

std::string text_of(const char* path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::optional<uint64_t> number_of(const std::string& text) {
  uint64_t number = 0;
  return std::istringstream(text) >> number ? std::optional(number) : std::nullopt;
}

// "MemAvailable:   123 kB" of /proc/meminfo, in bytes.
std::optional<uint64_t> row_of(const std::string& meminfo, const std::string& name) {
  const size_t at = meminfo.find(name + ":");
  const auto kilobytes =
      at == std::string::npos ? std::nullopt : number_of(meminfo.substr(at + name.size() + 1));
  return kilobytes ? std::optional(*kilobytes << 10) : std::nullopt;
}

}  // namespace

std::optional<uint64_t> memory_in(const std::string& meminfo, const std::string& limit) {
  const auto free = row_of(meminfo, "MemAvailable");
  if (!free) return std::nullopt;
  const uint64_t swap = row_of(meminfo, "SwapFree").value_or(0);
  return std::min(*free, number_of(limit).value_or(UINT64_MAX)) + swap;  // "max": no limit
}

std::optional<uint64_t> memory_of_machine() {
  return memory_in(text_of("/proc/meminfo"), text_of("/sys/fs/cgroup/memory.max"));
}

Status check_memory_room(int ranks, uint64_t bytes_of_one, std::optional<uint64_t> available,
                         const SourcePos& where) {
  const uint64_t wanted = static_cast<uint64_t>(ranks) * bytes_of_one;
  if (!available || *available >= wanted) return Done{};
  return usage_error(
      fmt::format("{} MB of memory are free, and {} ranks of PyTorch need at least {} MB: use fewer "
                  "ranks or a machine with more memory",
                  *available >> 20, ranks, wanted >> 20),
      where);
}

}  // namespace rankfault
