#include "harness/inject/limits.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>

namespace rankfault {
namespace {

Result<rlimit> limit_of(int pid, int resource) {
  rlimit now{};
  if (::prlimit(pid, static_cast<__rlimit_resource>(resource), nullptr, &now) != 0)
    return errno_error(fmt::format("read {} of pid {}", resource_name(resource), pid));
  return now;
}

Status set_soft_limit(int pid, int resource, rlimit limit, uint64_t soft) {
  limit.rlim_cur = soft;
  if (::prlimit(pid, static_cast<__rlimit_resource>(resource), &limit, nullptr) != 0)
    return errno_error(fmt::format("set {} of pid {}", resource_name(resource), pid));
  return Done{};
}

Result<std::set<uint64_t>> open_descriptors(int pid) {
  std::set<uint64_t> numbers;
  std::error_code error;
  for (std::filesystem::directory_iterator it(fmt::format("/proc/{}/fd", pid), error), end;
       !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    uint64_t number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc())
      numbers.insert(number);
  }
  if (error) return refused(fmt::format("the descriptors of pid {}: {}", pid, error.message()));
  return numbers;
}

// RLIMIT_NOFILE limits the number of a descriptor, not the count of open descriptors. Exactly `spare` numbers
// are free below the returned limit.
SetLimit limit_of_descriptors(const std::set<uint64_t>& open, uint64_t spare) {
  SetLimit made{open.size(), spare, 0};
  for (const uint64_t number : open)  // ascending: each one below the limit takes a number counted as free
    if (number <= made.limit) ++made.limit;
  return made;
}

// Returns the size that the kernel compares with RLIMIT_DATA.
Result<uint64_t> private_writable_bytes(int pid) {
  std::ifstream in(fmt::format("/proc/{}/status", pid));
  for (std::string word; in >> word;) {
    uint64_t kib = 0;
    if (word == "VmData:" && in >> kib) return kib * 1024;
  }
  return refused(fmt::format("/proc/{}/status has no VmData", pid));
}

}  // namespace

Result<SetLimit> limit_to_use(int pid, int resource, uint64_t spare) {
  SetLimit made;
  if (resource == RLIMIT_NOFILE) {
    const Result<std::set<uint64_t>> open = open_descriptors(pid);
    if (!open) return open.error();
    made = limit_of_descriptors(*open, spare);
  } else {
    const Result<uint64_t> bytes = private_writable_bytes(pid);
    if (!bytes) return bytes.error();
    made = {*bytes, *bytes + spare, 0};
  }
  const Result<rlimit> now = limit_of(pid, resource);
  if (!now) return now.error();
  made.before = now->rlim_cur;
  if (made.before < made.limit)
    return refused(fmt::format("{} of pid {} is already {}, with {} in use", resource_name(resource), pid,
                               limit_text(made.before), made.in_use));
  if (Status set = set_soft_limit(pid, resource, *now, made.limit); !set) return set.error();
  return made;
}

// Refuses if the limit is not the injected one any more: the program may have set its own meanwhile.
Status restore_limit(int pid, int resource, const SetLimit& made) {
  const Result<rlimit> now = limit_of(pid, resource);
  if (!now) return now.error();
  if (now->rlim_cur != made.limit)
    return refused(
        fmt::format("{} of pid {} is now {}", resource_name(resource), pid, limit_text(now->rlim_cur)));
  return set_soft_limit(pid, resource, *now, made.before);
}

std::string resource_name(int resource) {
  return resource == RLIMIT_NOFILE ? "RLIMIT_NOFILE" : "RLIMIT_DATA";
}

std::string limit_text(uint64_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : fmt::format("{}", limit);
}

}  // namespace rankfault
