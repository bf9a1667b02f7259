#include "harness/observe/record_names.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cstdio>

namespace rankfault {

std::vector<std::string> ring_names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* dir = ::opendir(folder.c_str());
  if (!dir) return names;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name.size() > 5 && name.substr(name.size() - 5) == ".ring") names.emplace_back(name);
  }
  ::closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

// The clock of files advances in steps of some milliseconds: a file may appear in the same step after the
// listing.
std::vector<std::string> RecordFolder::rings() {
  constexpr int64_t kClockStep = 50'000'000;
  const auto ns = [](const timespec& t) { return t.tv_sec * 1'000'000'000 + t.tv_nsec; };
  struct stat folder {};
  timespec now{};
  if (::stat(path_.c_str(), &folder) != 0) return {};
  const int64_t changed = ns(folder.st_mtim);
  if (changed == listed_at_) return {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  listed_at_ = ns(now) - changed > kClockStep ? changed : -1;
  return ring_names_in(path_);
}

std::string seen_name(const ProcessId& id, uint32_t lane) {
  return fmt::format("{}.L{}.seen", id.to_string(), lane);
}

}  // namespace rankfault
