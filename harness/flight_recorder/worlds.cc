#include "harness/flight_recorder/worlds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace rankfault {

std::string Worlds::disagreement() const {
  if (said_by_.size() < 2) return "";
  constexpr size_t kNamed = 8;  // ranks of each world that the text lists
  std::string text;
  for (const auto& [size, ranks] : said_by_) {
    const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(std::min(ranks.size(), kNamed));
    text += fmt::format("{}{} (rank{} {}{})", text.empty() ? "" : " / ", size, ranks.size() == 1 ? "" : "s",
                        fmt::join(ranks.begin(), end, " "), ranks.size() > kNamed ? " ..." : "");
  }
  return "the dumps disagree about the world, so they are of several jobs: " + text;
}

}  // namespace rankfault
