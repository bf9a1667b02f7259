#include "harness/diagnose/sequence/readings.h"

#include <algorithm>

#include "harness/diagnose/model/needs.h"
#include "harness/diagnose/sequence/places.h"
#include "harness/diagnose/sequence/sequences.h"
#include "harness/diagnose/timing/clocks.h"

namespace rankfault::readings {
namespace {

constexpr size_t kMostReadings = 16;       // readings that are followed in parallel
constexpr Duration kLongestPause = 100ms;  // of a thread that has work, on a busy host
constexpr int64_t kMostLost = 8;           // failed calls without a record that are tried as refused

// A call that needs the other's part cannot return before the other entered it.
bool before_its_time(const Call& c, const Member& m, const Call& other, const Member& of,
                     const CommGroup& group) {
  return c.succeeded() && is_known(c.left) &&
         certainly_before(*m.process->view, c.left, *of.process->view, other.entered) &&
         needs_of(c, m, group).certainly(of.rank);
}

// The reading that agrees longest; among equals the one with the fewest refused calls.
bool better(const Reading& a, const Reading& b) {
  return a.agrees != b.agrees ? a.agrees > b.agrees : a.cost() < b.cost();
}

void keep_the_best(std::vector<Reading>& all) {
  std::stable_sort(all.begin(), all.end(), better);
  if (all.size() > kMostReadings) all.resize(kMostReadings);
}

void read_failed(std::vector<Reading>& all, bool may_be_refused) {
  std::vector<Reading> more;
  for (Reading& r : all) {
    if (may_be_refused && r.agrees == ~size_t{0}) {
      more.push_back(r);
      more.back().refused.push_back(true);
      --more.back().shift;
    }
    r.refused.push_back(false);
  }
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

bool may_be_refused(const Member& m, const Call& c) {
  return failed(c) && !ended_by(m, c) && c.left < c.entered + kLongestPause;
}

int64_t lost_failures(const Member& m) {
  if (!m.comm || m.process->view->history_lost == 0 || m.comm->error == 0) return 0;
  const auto kept = std::count_if(m.process->calls.begin(), m.process->calls.end(),
                                  [&](const Call& c) { return c.comm() == m.comm->index && failed(c); });
  if (m.comm->failures == 0) return 1;
  return std::max<int64_t>(0, static_cast<int64_t>(m.comm->failures) - kept);
}

int64_t lost_places(const Member& m) {
  const int64_t calls = static_cast<int64_t>(m.comm->entered) - static_cast<int64_t>(m.calls.size());
  return std::min({lost_failures(m), calls, kMostLost});
}

bool is_over(const Member& m) {
  return m.comm->destroyed || m.process->view->stage == RF_STAGE_FINALIZED ||
         (m.process->ended() && !m.process->ended_badly());
}

bool fits(const Call& c, uint64_t place, const Member& m, const Reference& ref, const CommGroup& group) {
  if (ends_a_sequence(c)) return true;
  if (place > ref.last) return false;
  const auto [member, other] = ref.at(place);
  if (!other || ends_a_sequence(*other)) return true;
  return difference(*other, c).empty() && !before_its_time(c, m, *other, *member, group) &&
         !before_its_time(*other, *member, c, m, group);
}

Reading read(const Member& m, const Reference& ref, const CommGroup& group) {
  std::vector<Reading> all;
  for (int64_t lost = -ref.lost; lost <= lost_places(m); ++lost) {
    Reading r;
    r.shift = -lost;
    r.lost = lost;
    all.push_back(std::move(r));
  }
  for (size_t i = 0; i < m.calls.size(); ++i) {
    const Call& c = *m.calls[i];
    const size_t before = all.size();
    if (failed(c)) read_failed(all, may_be_refused(m, c));
    for (size_t k = 0; k < before; ++k) {  // the readings in which it has a place
      Reading& r = all[k];
      if (r.agrees == ~size_t{0} && !fits(c, moved(c.seq, r.shift), m, ref, group)) r.agrees = i;
    }
    if (all.size() > kMostReadings) keep_the_best(all);
  }
  keep_the_best(all);
  Reading best = all.front();
  best.least_shift = best.most_shift = best.shift;
  for (const Reading& r : all) {
    if (r.agrees != best.agrees) continue;
    best.least_shift = std::min(best.least_shift, r.shift);
    best.most_shift = std::max(best.most_shift, r.shift);
  }
  return best;
}

uint64_t last_made(const Member& m) {
  for (auto c = m.calls.rbegin(); c != m.calls.rend(); ++c)
    if (!ends_a_sequence(**c)) return (*c)->seq;
  return m.calls.empty() ? m.comm->entered : 0;
}

Reading read_alike(const Member& m, bool refused) {
  Reading r;
  for (const Call* c : m.calls)
    if (failed(*c)) r.refused.push_back(refused && may_be_refused(m, *c));
  return r;
}

uint64_t take_calls(Reference& ref, const Member& m, const Reading& reading) {
  int64_t shift = -reading.lost;
  size_t next = 0;
  uint64_t made = 0;
  for (const Call* c : m.calls) {
    if (failed(*c) && reading.refused[next++]) {
      --shift;
      continue;
    }
    const uint64_t place = moved(c->seq, shift);
    ref.add(place, {&m, c});
    if (!ends_a_sequence(*c)) made = place;
  }
  if (!is_over(m)) return ~uint64_t{0};
  return m.calls.empty() ? m.comm->entered : made;
}

void take(Reference& ref, const Member& m, const Reading& reading) {
  ref.last = std::min(ref.last, take_calls(ref, m, reading));
  ref.lost = std::max(ref.lost, lost_places(m));
}

}  // namespace rankfault::readings
