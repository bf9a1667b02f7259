#include "harness/nodes/clock_offset.h"

#include <algorithm>
#include <cstdlib>

namespace rankfault {
namespace {

constexpr size_t kMostMarks = 4096;
constexpr Instant kLatest{Duration(int64_t{1} << 60)};  // 36 years after boot: sums and differences fit

bool is_possible(const Ping& ping) {
  for (const Instant at : {ping.sent, ping.node_received, ping.node_answered, ping.received})
    if (at < Instant{} || at > kLatest) return false;
  return ping.sent <= ping.received && ping.node_received <= ping.node_answered;
}

// Rounded up, and without a product that could overflow.
int64_t share_of(int64_t ns, int64_t ppm) {
  return ns / 1'000'000 * ppm + (ns % 1'000'000 * ppm + 999'999) / 1'000'000;
}

}  // namespace

ClockOffset::ClockOffset(int64_t drift_ppm) : drift_ppm_(drift_ppm) {
  RF_ASSERT(drift_ppm >= 0 && drift_ppm <= 100'000, "clocks drift by at most a tenth");
}

ClockOffset::Bounds ClockOffset::widened(Bounds bounds, Duration age) const {
  const int64_t drift = share_of(age.count(), drift_ppm_);
  // The age may be by the slower of the two clocks.
  const int64_t by = drift + share_of(2 * drift, drift_ppm_);
  return {bounds.low - by, bounds.high + by};
}

bool ClockOffset::add(const Ping& ping) {
  if (!is_possible(ping) || (!marks_.empty() && ping.node_answered < marks_.back().node_time)) return false;
  const Duration trip = ping.received - ping.sent;
  const Bounds seen =
      widened({(ping.node_answered - ping.received).count(), (ping.node_received - ping.sent).count()}, trip);
  if (seen.low > seen.high) {  // between the two ways
    jumped_ = ping.received;
    step_inside_ = true;
    return true;
  }
  if (marks_.empty()) {
    step_inside_ = false;
    append({ping.node_answered, seen});
  } else {
    const Bounds before = widened(marks_.back().offset, ping.node_answered - marks_.back().node_time);
    const Bounds both{std::max(before.low, seen.low), std::min(before.high, seen.high)};
    if (step_inside_ || both.low > both.high) {
      start_after_step(ping, seen);
    } else {
      append({ping.node_answered, both});
      tighten_older_marks();
    }
  }
  ++pings_;
  choose();
  return true;
}

void ClockOffset::start_after_step(const Ping& ping, Bounds seen) {
  if (!step_inside_) jumped_ = ping.received;
  step_inside_ = false;
  pings_ = 0;
  marks_.push_back({ping.node_answered, seen, true});
  if (marks_.size() > kMostMarks) thin_out();
}

// The last mark may be nearer to the one before it than spacing_: the next one takes its place then.
void ClockOffset::append(const Mark& mark) {
  const size_t n = marks_.size();
  const bool is_near = n >= 2 && !marks_[n - 1].after_step && !marks_[n - 2].after_step &&
                       mark.node_time - marks_[n - 2].node_time < spacing_;
  if (is_near) marks_.pop_back();
  marks_.push_back(mark);
  if (marks_.size() > kMostMarks) thin_out();
}

// A new bound holds for older times, too, with its age. Then two neighbours say all that is known.
void ClockOffset::tighten_older_marks() {
  for (size_t i = marks_.size() - 1; i > 0 && !marks_[i].after_step; --i) {
    Mark& older = marks_[i - 1];
    const Bounds back = widened(marks_[i].offset, marks_[i].node_time - older.node_time);
    if (back.low <= older.offset.low && back.high >= older.offset.high) return;
    older.offset = {std::max(back.low, older.offset.low), std::min(back.high, older.offset.high)};
  }
}

// Removes every second mark, but none at a step.
void ClockOffset::thin_out() {
  std::vector<Mark> kept;
  for (size_t i = 0; i < marks_.size(); ++i) {
    const bool at_step = marks_[i].after_step || (i + 1 < marks_.size() && marks_[i + 1].after_step);
    if (i % 2 == 0 || at_step || i + 1 == marks_.size()) kept.push_back(marks_[i]);
  }
  if (kept.size() > kMostMarks) {  // a clock that is stepped all the time
    kept.erase(kept.begin(), kept.begin() + kMostMarks / 2);
    known_from_ = kept.front().node_time;
  }
  marks_ = std::move(kept);
  spacing_ = (marks_.back().node_time - marks_.front().node_time) / (kMostMarks / 2);
}

void ClockOffset::choose() {
  if (fixed_) return;
  const Bounds now = marks_.back().offset;
  if (pings_ < kEnoughPings && now.high - now.low > kNarrow.count()) return;
  fixed_ = now.low + (now.high - now.low) / 2;
}

int64_t ClockOffset::fixed_ns() const {
  RF_ASSERT(known(), "the offset of a clock is used before it is known");
  return *fixed_;
}

Instant ClockOffset::tool_time(Instant node_time) const {
  if (!is_known(node_time) || node_time == kEndOfTime) return node_time;
  // An event before the tool's host was started, which no event of a run is, becomes its first instant.
  return std::max(std::min(node_time, kLatest) - Duration(fixed_ns()), Instant(Duration(1)));
}

ClockOffset::Bounds ClockOffset::bounds_at(Instant node_time) const {
  const auto next = std::upper_bound(marks_.begin(), marks_.end(), node_time,
                                     [](Instant at, const Mark& mark) { return at < mark.node_time; });
  if (next == marks_.begin()) return widened(next->offset, next->node_time - node_time);
  const auto last = next - 1;
  const Bounds forward = widened(last->offset, node_time - last->node_time);
  if (next == marks_.end()) return forward;
  const Bounds back = widened(next->offset, next->node_time - node_time);
  if (next->after_step) return {std::min(forward.low, back.low), std::max(forward.high, back.high)};
  return {std::max(forward.low, back.low), std::min(forward.high, back.high)};
}

Duration ClockOffset::error(Instant node_time) const {
  if (!known() || node_time < known_from_ || node_time > kLatest) return kLongestDuration;
  const Bounds bounds = bounds_at(node_time);
  return Duration(std::max(std::abs(bounds.low - *fixed_), std::abs(bounds.high - *fixed_)));
}

Order order_of(Instant a, Duration error_a, Instant b, Duration error_b) {
  const Duration both = error_a + error_b;
  if (b - a > both) return Order::kBefore;
  return a - b > both ? Order::kAfter : Order::kUnknown;
}

}  // namespace rankfault
