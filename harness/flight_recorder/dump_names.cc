#include "harness/flight_recorder/dump_names.h"

#include <charconv>
#include <initializer_list>

namespace rankfault {
namespace {

constexpr std::string_view kSideEnd = ".rankfault.json";
constexpr size_t kMostDigits = 9;  // a longer number is a date or a process, not a rank

bool drop_end(std::string_view& name, std::string_view end) {
  if (!name.ends_with(end)) return false;
  name.remove_suffix(end.size());
  return true;
}

void drop_separators(std::string_view& name) {
  while (!name.empty() && (name.back() == '_' || name.back() == '-' || name.back() == '.'))
    name.remove_suffix(1);
}

}  // namespace

DumpName parse_dump_name(std::string_view name) {
  drop_end(name, ".gz");
  for (const std::string_view end : {".json", ".pkl", ".pickle"})
    if (drop_end(name, end)) break;
  DumpName parsed;
  size_t digits = 0;
  while (digits < name.size() && name[name.size() - 1 - digits] >= '0' &&
         name[name.size() - 1 - digits] <= '9')
    ++digits;
  if (digits == 0 || digits > kMostDigits) return parsed;
  const std::string_view number = name.substr(name.size() - digits);
  std::from_chars(number.data(), number.data() + digits, parsed.rank);
  name.remove_suffix(digits);
  drop_separators(name);
  if (!drop_end(name, "rank")) return parsed;
  drop_separators(name);
  for (const std::string_view word : {"trace", "nccl", "comm_lib", "dump"}) {
    drop_end(name, word);
    drop_separators(name);
  }
  parsed.host = name;
  return parsed;
}

std::string side_name(int64_t rank) { return std::to_string(rank) + std::string(kSideEnd); }

bool is_side_name(std::string_view file_name) { return file_name.ends_with(kSideEnd); }

}  // namespace rankfault
