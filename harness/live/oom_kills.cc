#include "harness/live/oom_kills.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace rankfault {
namespace {

// The part of a line "4:memory:/job" or "0::/job" of /proc/PID/cgroup behind the second colon.
std::optional<std::string> group_in(const std::string& line, const std::string& controller) {
  const size_t first = line.find(':'), second = line.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return {};
  const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
  const bool same = controller.empty() ? names == ",," : names.find("," + controller + ",") != names.npos;
  return same ? std::optional(line.substr(second + 1)) : std::nullopt;
}

// The line "oom_kill N" of the file.
std::optional<uint64_t> kills_in(const std::string& file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string key;
    uint64_t value = 0;
    if (words >> key >> value && key == "oom_kill") return value;
  }
  return {};
}

}  // namespace

std::optional<OomKills::Count> OomKills::count_of(int pid) const {
  std::ifstream in(fmt::format("{}/proc/{}/cgroup", root_, pid));
  const std::string groups = root_ + "/sys/fs/cgroup";
  for (std::string line; std::getline(in, line);) {
    Count count;
    if (const auto v1 = group_in(line, "memory"))
      count = {groups + "/memory" + *v1 + "/memory.oom_control", "memory group " + *v1};
    else if (const auto v2 = group_in(line, ""))
      count = {groups + *v2 + "/memory.events", "memory group " + *v2};
    if (!count.file.empty() && kills_in(count.file)) return count;
  }
  const Count machine{root_ + "/proc/vmstat", "this machine"};
  return kills_in(machine.file) ? std::optional(machine) : std::nullopt;
}

void OomKills::watch(int pid) {
  const auto count = count_of(pid);
  if (!count) return;
  watched_.insert_or_assign(pid, *count);
  if (const auto now = kills_in(count->file)) explained_.emplace(count->file, *now);
}

std::string OomKills::take(int pid) {
  const auto count = watched_.find(pid);
  if (count == watched_.end()) return "";
  const auto now = kills_in(count->second.file);
  uint64_t& explained = explained_[count->second.file];
  if (!now || *now <= explained) return "";
  ++explained;
  return count->second.where;
}

}  // namespace rankfault
