#include "harness/base/rank_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankfault {

std::string ranks_text(const std::vector<int>& ranks) {
  if (ranks.empty()) return "no rank";
  if (ranks.size() == 1) return fmt::format("rank {}", ranks[0]);
  const bool run = ranks.size() > 3 && ranks.back() - ranks.front() == static_cast<int>(ranks.size()) - 1;
  if (run) return fmt::format("ranks {}-{}", ranks.front(), ranks.back());
  return fmt::format("ranks {}", fmt::join(ranks, " "));
}

}  // namespace rankfault
