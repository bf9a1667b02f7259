#include "harness/base/rank_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankfault {

constexpr size_t kMostListed = 8;

std::string ranks_text(const std::vector<int>& ranks) {
  if (ranks.empty()) return "no rank";
  if (ranks.size() == 1) return fmt::format("rank {}", ranks[0]);
  const bool run = ranks.back() - ranks.front() == static_cast<int>(ranks.size()) - 1;
  if (ranks.size() <= 3 || (ranks.size() <= kMostListed && !run))
    return fmt::format("ranks {}", fmt::join(ranks, " "));
  std::string out = "ranks";
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    out += end - i > 2 ? fmt::format(" {}-{}", ranks[i], ranks[end - 1])
                       : fmt::format(" {}", fmt::join(ranks.begin() + i, ranks.begin() + end, " "));
    i = end;
  }
  return out;
}

}  // namespace rankfault
