// log_name: the rank that the name of a log file gives.
#include <algorithm>
#include <cctype>
#include <string>

#include "harness/reproduce/logs/log_lines.h"
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "rank_3", "rank-3" or "rank3" in a part of a path; nothing of "ranks_8", "local_rank_3" is.
int rank_in(std::string_view part) {
  constexpr std::string_view kWord = "rank";
  std::string lower(part);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (size_t at = lower.find(kWord); at != std::string::npos; at = lower.find(kWord, at + 1)) {
    const std::string_view before = std::string_view(lower).substr(0, at);
    if (!before.empty() && is_word(before.back())) continue;
    constexpr std::string_view kOthers[] = {"local_", "local-", "node_", "node-", "group_", "group-"};
    if (std::any_of(std::begin(kOthers), std::end(kOthers), [&](std::string_view other) {
          return before.size() >= other.size() && before.substr(before.size() - other.size()) == other;
        }))
      continue;
    Scan scan(lower, at + kWord.size());
    if (!scan.skip("_") && !scan.skip("-")) scan.skip(".");
    if (!all_digits(scan.rest().substr(0, 1))) continue;
    const int rank = as_int(scan.number());
    if (rank >= 0 && (scan.rest().empty() || !is_word(scan.rest().front()))) return rank;
  }
  return -1;
}

std::string_view without_endings(std::string_view name) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view ending : {".gz", ".log", ".txt", ".out", ".err", ".stdout", ".stderr"})
      if (name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending) {
        name.remove_suffix(ending.size());
        again = true;
      }
  }
  return name;
}

std::string_view last_part(std::string_view& path) {
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  const std::string_view part = slash == std::string_view::npos ? path : path.substr(slash + 1);
  path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  return part;
}

}  // namespace

NameRank log_rank_of_name(std::string_view path) {
  constexpr size_t kLongestNumber = 3;  // a longer one may be a year, a date, a pid or a job
  const std::string_view name = without_endings(last_part(path));
  const std::string_view folder = last_part(path), above = last_part(path);
  if (const int rank = rank_in(name); rank >= 0) return {rank, false};
  if (all_digits(folder) && above.substr(0, 8) == "attempt_") return {as_int(Scan(folder).number()), true};
  if (const int rank = rank_in(folder); rank >= 0) return {rank, false};
  if (all_digits(name) && name.size() <= kLongestNumber) return {as_int(Scan(name).number()), false};
  return {};
}

}  // namespace rankfault
