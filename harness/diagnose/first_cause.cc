// first_cause: decides which finding came first and which ones are its consequences.
#include <algorithm>
#include <tuple>

#include "harness/diagnose/rule.h"

namespace rankfault {
namespace {

// One look may see several ranks that were ended one after the other (MPICH's hydra kills all the others at
// once). If one died while it waited for another, the other does not wait for it.
int fewest_waiters_last(const Finding& f) {
  size_t waiters = 0;
  for (const Side& side : f.sides)
    waiters += static_cast<size_t>(std::count_if(side.ranks.begin(), side.ranks.end(), [&](int rank) {
      return std::find(f.ranks.begin(), f.ranks.end(), rank) == f.ranks.end();
    }));
  return f.kind == "dead_rank" ? -static_cast<int>(waiters) : 0;
}

bool is_fact(const Finding& f) { return f.kind == "late_rank" && f.confidence == Confidence::kProven; }

bool touches(const Finding& cause, const Finding& effect) {
  for (const Side& side : cause.sides)
    for (const int rank : side.ranks)
      if (std::find(effect.ranks.begin(), effect.ranks.end(), rank) != effect.ranks.end()) return true;
  return false;
}

// `cause` came first. A slow or stopped rank explains the ends of the ranks that waited for it, but no proven
// finding about them.
bool explains(const Finding& cause, const Finding& effect) {
  if (cause.attempt != effect.attempt) return false;
  if (cause.kind == "exited_rank" && !is_end(effect) && effect.confidence == Confidence::kProven)
    return cause.confidence == Confidence::kProven;
  if (cause.kind == "late_rank" && !is_fact(cause)) return is_end(effect);
  if (effect.kind == "late_rank" && cause.ranks == effect.ranks) return true;
  if (!traits_of(cause.kind).rank_may_come) return true;
  return is_end(effect) && touches(cause, effect) && cause.ranks != effect.ranks;
}

}  // namespace

bool says_it_hangs(const Finding& f) {
  if (f.confidence == Confidence::kProven) return f.claim == Claim::kCannotReturn;
  return traits_of(f.kind).says_it_hangs;
}

namespace {

// The time of a finding about a call is that of the first rank that entered it. If the host refused a
// resource to a rank while others waited for it in that call, the refusal came first. A finding from before
// the rank's previous call is unrelated.
bool follows_from(const Finding& f, const Finding& resource) {
  return f.attempt == resource.attempt && f.kind != "host_resource" && !is_fact(f) && !f.ranks.empty() &&
         f.at >= resource.since &&
         std::includes(resource.ranks.begin(), resource.ranks.end(), f.ranks.begin(), f.ranks.end());
}

std::vector<std::pair<Instant, Finding>> with_their_times(std::vector<Finding>& all) {
  std::vector<std::pair<Instant, Finding>> keyed;
  for (const Finding& f : all) {
    Instant at = f.at;
    if (f.kind == "host_resource")
      for (const Finding& other : all)
        if (follows_from(other, f)) at = std::min(at, other.at);
    keyed.emplace_back(at, f);
  }
  return keyed;
}

}  // namespace

void order_by_cause(std::vector<Finding>& all) {
  std::vector<std::pair<Instant, Finding>> keyed = with_their_times(all);
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& x, const auto& y) {
    const auto &a = x.second, &b = y.second;
    return std::tuple(a.attempt, x.first, traits_of(a.kind).precedence, fewest_waiters_last(a), a.comm,
                      a.ranks, a.text) < std::tuple(b.attempt, y.first, traits_of(b.kind).precedence,
                                                    fewest_waiters_last(b), b.comm, b.ranks, b.text);
  });
  for (size_t i = 0; i < all.size(); ++i) all[i] = std::move(keyed[i].second);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].caused_by = -1;
    for (size_t j = 0; j < i; ++j)
      if (all[j].caused_by < 0 && explains(all[j], all[i])) {
        all[i].caused_by = static_cast<int>(j);
        break;
      }
  }
}

}  // namespace rankfault
