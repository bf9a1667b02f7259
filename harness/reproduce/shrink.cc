#include "harness/reproduce/shrink.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/reproduce/fold.h"

namespace rankfault {
namespace {

size_t most_calls(const Case& c) {
  size_t most = 0;
  for (const CaseRank& rank : c.ranks) most = std::max(most, rank.calls.size());
  return most;
}

auto first_open(std::vector<CaseCall>& calls) {
  return std::find_if(calls.begin(), calls.end(), [](const CaseCall& call) { return call.open; });
}

// Whether the state needs the rank: it is blamed, or it is the only one that waits.
bool is_needed(const Case& c, int rank) {
  const std::vector<int>& culprits = c.state.culprits;
  if (std::find(culprits.begin(), culprits.end(), rank) != culprits.end()) return true;
  return c.state.waiters.size() == 1 && c.state.waiters[0] == rank;
}

class Shrinker {
 public:
  Shrinker(Case c, const StillHangs& hangs, const std::function<void(const std::string&)>& kept)
      : case_(std::move(c)), hangs_(hangs), kept_(kept) {}

  Case result() {
    attempt(without_calls_after(case_), "without the calls after the divergence");
    fewer_calls();
    fewer_ranks();
    attempt(with_counts_of_one(case_), "with counts of 1");
    return std::move(case_);
  }

 private:
  bool attempt(Case smaller, const std::string& what) {
    if (to_json(smaller) == to_json(case_) || !hangs_(smaller)) return false;
    case_ = std::move(smaller);
    if (kept_) kept_(what);
    return true;
  }

  void fewer_calls() {
    for (size_t calls = most_calls(case_) / 2; calls >= 1; calls /= 2)
      if (!attempt(with_calls_before(case_, calls),
                   fmt::format("at most {} call{} before the divergence", calls, calls == 1 ? "" : "s")))
        break;
    attempt(with_calls_before(case_, 0), "no calls before the divergence");
  }

  void fewer_ranks() {
    for (int rank = case_.world_size - 1; rank >= 0 && case_.world_size > 2; --rank)
      if (!is_needed(case_, rank))
        attempt(without_rank(case_, rank), fmt::format("{} ranks", case_.world_size - 1));
  }

  Case case_;
  const StillHangs& hangs_;
  const std::function<void(const std::string&)>& kept_;
};

}  // namespace

Case shrink(Case c, const StillHangs& hangs, const std::function<void(const std::string&)>& kept) {
  return Shrinker(std::move(c), hangs, kept).result();
}

Case with_calls_before(const Case& c, size_t most) {
  Case smaller = c;
  for (CaseRank& rank : smaller.ranks) {
    const auto open = first_open(rank.calls);
    const auto before = static_cast<size_t>(open - rank.calls.begin());
    if (before > most) rank.calls.erase(rank.calls.begin(), open - static_cast<ptrdiff_t>(most));
  }
  return smaller;
}

Case without_calls_after(const Case& c) {
  Case smaller = c;
  for (CaseRank& rank : smaller.ranks) {
    const auto open = first_open(rank.calls);
    if (open != rank.calls.end()) rank.calls.erase(open + 1, rank.calls.end());
  }
  return smaller;
}

Case without_rank(const Case& c, int rank) {
  std::vector<int> keep;
  for (int r = 0; r < c.world_size; ++r)
    if (r != rank) keep.push_back(r);
  return folded(c, keep);
}

Case with_counts_of_one(const Case& c) {
  Case smaller = c;
  scale_counts(smaller, 1);
  smaller.known = c.known;
  return smaller;
}

}  // namespace rankfault
