#include "harness/diagnose/timing/clocks.h"

#include <fmt/format.h>

namespace rankfault {
namespace {

// Instants may be kEndOfTime, to which nothing is added. The difference of two instants never overflows.
bool is_before(Instant at, Instant bt, Duration error) { return bt - at > error; }

std::string both_clocks(const ProcessView& a, const ProcessView& b) {
  if (!a.node.empty() && !b.node.empty()) return fmt::format("the clocks of nodes {} and {}", a.node, b.node);
  return fmt::format("the clocks of node {} and of the tool's host", a.node.empty() ? b.node : a.node);
}

}  // namespace

NodeClock clock_of(const ProcessView& p) {
  return p.node.empty() ? NodeClock{} : NodeClock{p.node, p.clock_error};
}

Duration error_between(const NodeClock& a, const NodeClock& b) {
  return !a.node.empty() && a.node == b.node ? Duration{} : a.error + b.error;
}

Duration error_between(const ProcessView& a, const ProcessView& b) {
  return a.node == b.node ? Duration{} : a.clock_error + b.clock_error;
}

bool certainly_before(const ProcessView& a, Instant at, const ProcessView& b, Instant bt) {
  return is_before(at, bt, error_between(a, b));
}

bool maybe_before(const ProcessView& a, Instant at, const ProcessView& b, Instant bt) {
  return is_before(at, bt, -error_between(a, b));
}

bool certainly_before(const NodeClock& a, Instant at, const NodeClock& b, Instant bt) {
  return is_before(at, bt, error_between(a, b));
}

bool maybe_before(const NodeClock& a, Instant at, const NodeClock& b, Instant bt) {
  return is_before(at, bt, -error_between(a, b));
}

std::string why_unordered(const ProcessView& a, Instant at, const ProcessView& b, Instant bt) {
  const Duration error = error_between(a, b);
  if (error == Duration{} || is_before(at, bt, error) || is_before(bt, at, error)) return "";
  if (error >= kLongestDuration) return fmt::format("it is not known how much {} differ", both_clocks(a, b));
  return fmt::format("{} differ by up to {}, and these events are {} apart", both_clocks(a, b),
                     to_text(error), to_text(at < bt ? bt - at : at - bt));
}

}  // namespace rankfault
