#include "harness/flight_recorder/absent_ranks.h"

#include <fmt/format.h>

#include <algorithm>

namespace rankfault {
namespace {

// The ranks whose dumps cannot be read. -1 in the set: the rank of such a dump is not known.
std::set<int64_t> unread_ranks(const std::vector<FrEvidence>& evidence) {
  std::set<int64_t> ranks;
  for (const FrEvidence& e : evidence)
    if (e.kind == FrEvidence::Kind::kUnreadable) ranks.insert(e.rank);
  return ranks;
}

}  // namespace

void expect_absent(Timeline& t, const std::set<int>& there, std::vector<FrEvidence>& evidence) {
  const std::set<int64_t> unread = unread_ranks(evidence);
  const auto is_unread = [&](int r) { return unread.count(r) != 0 || unread.count(-1) != 0; };
  const auto is_absent = [&](int r) { return there.count(r) == 0 && unread.count(r) == 0; };
  for (int r = 0; r < t.world_size; ++r)
    t.expected.push_back({r, 0, false, there.count(r) == 0 && is_unread(r)});
  std::string absent;
  for (int r = 0; r < t.world_size; ++r) {
    if (!is_absent(r)) continue;
    int last = r;
    while (last + 1 < t.world_size && is_absent(last + 1)) ++last;
    absent += last == r ? fmt::format(" {}", r) : fmt::format(" {}-{}", r, last);
    r = last;
  }
  if (!absent.empty()) evidence.push_back({FrEvidence::Kind::kNoRank, "", -1, "no dump of ranks" + absent});
}

}  // namespace rankfault
