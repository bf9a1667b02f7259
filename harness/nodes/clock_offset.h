// ClockOffset: how far a node's CLOCK_MONOTONIC is ahead of the tool's, as an interval that is certain to
// hold the true offset, and from it the place of a node's events on the tool's clock, each with its largest
// error.
//
// A ping gives a hard bound on both sides, however uneven the two ways are:
//
//   node_answered - received  <=  node's clock - tool's clock  <=  node_received - sent
//
// because the node read its clock after `sent` and before `received`. The width is the round trip without the
// node's own time. Bounds of several pings are intersected. Each is widened by its age times the drift bound:
// how much the rates of the two clocks may differ. 100 ppm is more than quartz clocks differ by. NTP programs
// that correct a clock slew CLOCK_MONOTONIC by up to 500 ppm (adjtimex), and chrony by more on request: give
// a larger bound where clocks are being corrected. A wrong bound is noticed only if two bounds then
// contradict each other.
//
// One offset is chosen when the first pings are in, and never changes: so the order of events inside of one
// node stays as it is. What the clocks drift apart after that adds to error(). Events of the same node are
// compared by their own times, without any error.
//
// When bounds contradict each other, a clock was stepped: one of the hosts slept, or a virtual machine moved.
// The offset then starts from new bounds, and error() covers the distance to the chosen one. Between the last
// ping before the step and the first one after it, error() covers both.
//
// Errors are asked for by the node's time, because the tool's time of an event after a step is not known well
// enough to find out on which side of the step it was.
//
// All times are CLOCK_MONOTONIC, those named node_ of the node. Memory: 256 KiB at most. Threads: one at a
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/base/time.h"

namespace rankfault {

struct Ping {
  Instant sent;           // by the tool's clock
  Instant node_received;  // by the node's
  Instant node_answered;  // by the node's
  Instant received;       // by the tool's
};

class ClockOffset {
 public:
  static constexpr int64_t kUsualDriftPpm = 100;
  static constexpr int kEnoughPings = 8;
  static constexpr Duration kNarrow{100'000};  // a width after which no further ping is awaited

  explicit ClockOffset(int64_t drift_ppm = kUsualDriftPpm);  // see above; 100,000 at most

  // Pings are given in the order of `received`. Returns false for one that cannot be true, such as an answer
  // before its question: it is left out.
  bool add(const Ping&);

  bool known() const { return fixed_.has_value(); }  // after kEnoughPings, or when the width is kNarrow
  int64_t fixed_ns() const;                          // node's clock - tool's clock; must be known()

  // The tool's time of an event of the node. Keeps Instant{} and kEndOfTime. Must be known().
  Instant tool_time(Instant node_time) const;
  // The largest distance between tool_time(node_time) and the true one; kLongestDuration: it is not known
  // (yet, or any more: after thousands of steps, the oldest are forgotten). Later pings may lower it.
  Duration error(Instant node_time) const;

  // The tool's time when the latest step of a clock was noticed; nullopt: none was.
  std::optional<Instant> jumped() const { return jumped_; }

 private:
  struct Bounds {
    int64_t low = 0, high = 0;  // ns
  };
  struct Mark {
    Instant node_time;
    Bounds offset;
    bool after_step = false;  // nothing is known of the time between this and the mark before it
  };

  Bounds widened(Bounds, Duration age) const;
  Bounds bounds_at(Instant node_time) const;
  void start_after_step(const Ping&, Bounds);
  void append(const Mark&);
  void tighten_older_marks();
  void thin_out();
  void choose();

  int64_t drift_ppm_;
  std::vector<Mark> marks_;  // by time. Each has the bounds of all pings since the last step
  Duration spacing_{};       // of marks_, but for the last
  Instant known_from_;
  int pings_ = 0;  // since the last step
  bool step_inside_ = false;
  std::optional<int64_t> fixed_;
  std::optional<Instant> jumped_;
};

enum class Order { kBefore, kAfter, kUnknown };
// The order of two events of different hosts, each known up to its error. kUnknown also when both bounds
// touch.
Order order_of(Instant a, Duration error_a, Instant b, Duration error_b);

}  // namespace rankfault
