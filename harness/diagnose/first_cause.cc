// first_cause: decides which finding came first and which ones are its consequences.
#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

#include "harness/diagnose/rule.h"

namespace rankfault {
namespace {

int waiters_of_end(const Finding& f) {
  size_t waiters = 0;
  for (const Side& side : f.sides)
    waiters += static_cast<size_t>(std::count_if(side.ranks.begin(), side.ranks.end(), [&](int rank) {
      return std::find(f.ranks.begin(), f.ranks.end(), rank) == f.ranks.end();
    }));
  return is_end(f) ? static_cast<int>(waiters) : 0;
}

// One look may see several ranks that were ended one after the other (MPICH's hydra kills all the others at
// once). If one died while it waited for another, the other does not wait for it.
int fewest_waiters_last(const Finding& f) { return f.kind == "dead_rank" ? -waiters_of_end(f) : 0; }

NodeClock clock_of(const Finding& f) { return f.clock.value_or(NodeClock{}); }

bool is_fact(const Finding& f) { return f.kind == "late_rank" && f.confidence == Confidence::kProven; }

bool has_any(const Finding& f, const std::vector<int>& ranks) {
  return std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
    return std::find(f.ranks.begin(), f.ranks.end(), rank) != f.ranks.end();
  });
}

bool touches(const Finding& cause, const Finding& effect) {
  return std::any_of(cause.sides.begin(), cause.sides.end(),
                     [&](const Side& side) { return has_any(effect, side.ranks); });
}

// A rank of the effect waited for the cause, or is to blame for both: this links them although no clock says
// which came first.
bool are_about_one_rank(const Finding& cause, const Finding& effect) {
  return touches(cause, effect) || has_any(effect, cause.ranks);
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

struct DatedFinding {
  Instant at;
  NodeClock clock;
  Finding finding;
  Instant over;  // this one, or a later one of its clock, was over for certain
};

// The time of a finding about a call is that of the first rank that entered it. If the host refused a
// resource to a rank while others waited for it in that call, the refusal came first. A finding from before
// the rank's previous call is unrelated.
bool follows_from(const Finding& f, const Finding& resource) {
  return f.attempt == resource.attempt && f.kind != "host_resource" && !is_fact(f) && !f.ranks.empty() &&
         !maybe_before(clock_of(f), f.at, clock_of(resource), resource.since) &&
         std::includes(resource.ranks.begin(), resource.ranks.end(), f.ranks.begin(), f.ranks.end());
}

std::vector<DatedFinding> with_their_times(std::vector<Finding>& all) {
  std::vector<DatedFinding> timed;
  for (const Finding& f : all) {
    DatedFinding one{f.at, clock_of(f), f, {}};
    if (f.kind == "host_resource")
      for (const Finding& other : all)
        if (follows_from(other, f) && other.at < one.at) {
          one.at = other.at;
          one.clock = clock_of(other);
        }
    timed.push_back(std::move(one));
  }
  return timed;
}

bool comes_before_on_one_clock(const DatedFinding& x, const DatedFinding& y) {
  const Finding &a = x.finding, &b = y.finding;
  return std::tuple(a.attempt, x.at, traits_of(a.kind).precedence, fewest_waiters_last(a), a.comm, a.ranks,
                    a.text) < std::tuple(b.attempt, y.at, traits_of(b.kind).precedence,
                                         fewest_waiters_last(b), b.comm, b.ranks, b.text);
}

// The same of two findings of which no clock says which came first.
bool comes_before_by_kind(const Finding& a, const Finding& b) {
  return std::tuple(traits_of(a.kind).precedence, -waiters_of_end(a), a.comm, a.ranks, a.text) <
         std::tuple(traits_of(b.kind).precedence, -waiters_of_end(b), b.comm, b.ranks, b.text);
}

// The findings of one clock, the first at the back.
using OfClock = std::vector<DatedFinding>;

std::vector<OfClock> by_clock(std::vector<DatedFinding> all) {
  std::stable_sort(all.begin(), all.end(), comes_before_on_one_clock);
  std::vector<OfClock> clocks;
  std::map<std::string, size_t> known;
  for (DatedFinding& t : all) {
    const bool several = t.clock.node.empty() && t.clock.error != Duration{};
    const size_t i = several ? clocks.size() : known.try_emplace(t.clock.node, clocks.size()).first->second;
    if (i == clocks.size()) clocks.emplace_back();
    clocks[i].push_back(std::move(t));
  }
  for (OfClock& clock : clocks) {
    std::reverse(clock.begin(), clock.end());
    for (size_t i = 0; i < clock.size(); ++i) {
      clock[i].over = clock[i].at + clock[i].clock.error;
      if (i > 0 && clock[i - 1].finding.attempt == clock[i].finding.attempt)
        clock[i].over = std::min(clock[i].over, clock[i - 1].over);
    }
  }
  return clocks;
}

// Returns the clock that has the next finding: of those that came after none for certain, the first by kind.
OfClock* next_of(std::vector<OfClock>& clocks) {
  int attempt = INT32_MAX;
  for (const OfClock& c : clocks)
    if (!c.empty()) attempt = std::min(attempt, c.back().finding.attempt);
  const auto is_left = [&](const OfClock& c) { return !c.empty() && c.back().finding.attempt == attempt; };
  Instant over = kEndOfTime;
  for (const OfClock& c : clocks)
    if (is_left(c)) over = std::min(over, c.back().over);
  OfClock* next = nullptr;
  for (OfClock& c : clocks)
    if (is_left(c) && c.back().at - c.back().clock.error <= over &&
        (!next || comes_before_by_kind(c.back().finding, next->back().finding)))
      next = &c;
  return next;
}

std::vector<DatedFinding> in_order(std::vector<DatedFinding> all) {
  std::vector<OfClock> clocks = by_clock(std::move(all));
  std::vector<DatedFinding> ordered;
  while (OfClock* next = next_of(clocks)) {
    ordered.push_back(std::move(next->back()));
    next->pop_back();
  }
  return ordered;
}

bool have_an_order(const DatedFinding& a, const DatedFinding& b) {
  return error_between(a.clock, b.clock) == Duration{} || certainly_before(a.clock, a.at, b.clock, b.at);
}

}  // namespace

void order_by_cause(std::vector<Finding>& all) {
  std::vector<DatedFinding> ordered = in_order(with_their_times(all));
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = std::move(ordered[i].finding);
    all[i].caused_by = -1;
    for (size_t j = 0; j < i; ++j)
      if (all[j].caused_by < 0 && explains(all[j], all[i]) &&
          (have_an_order(ordered[j], ordered[i]) || are_about_one_rank(all[j], all[i]))) {
        all[i].caused_by = static_cast<int>(j);
        break;
      }
  }
}

}  // namespace rankfault
