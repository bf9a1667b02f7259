#include "harness/diagnose/timing/wait_thresholds.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/agent/named_calls.h"

namespace rankfault {
namespace {

// Growing work (a checkpoint, an evaluation, a crowded host) may take twice as long as ever before.
constexpr int kFactor = 3;

using Span = std::pair<Instant, Instant>;

bool counts(const Call& c) { return !rf_is_inner(c.op()) && !rf_is_named(c.op()); }

// Returns when the calling thread was in the call: pending work runs beside the program.
Span inside_of(const Call& c, Instant look) {
  if (c.open()) return {c.entered, look};
  return {c.entered, c.flags() & RF_CALL_NONBLOCKING ? c.entered : c.left};
}

// Returns the longest time in which no thread of the process was in a call.
Duration longest_absence(const Process& p, Instant look) {
  std::vector<Span> spans;
  for (const Call& c : p.calls)
    if (counts(c)) spans.push_back(inside_of(c, look));
  std::sort(spans.begin(), spans.end());
  Duration longest{};
  Instant until = spans.empty() ? Instant{} : spans.front().second;
  for (const auto& [entered, left] : spans) {
    longest = std::max(longest, entered - until);
    until = std::max(until, left);
  }
  return longest;
}

// Returns the longest duration of such a call of this process. A held call is in a wait for requests.
Duration longest_wait(const Process& p, uint32_t comm, const WaitEdge& like) {
  const bool in_a_wait = like.held && rf_is_wait(like.held->op());
  Duration longest{0};
  for (const Call& c : p.calls) {
    const bool same = in_a_wait ? rf_is_wait(c.op()) : c.op() == like.call->op() && c.comm() == comm;
    if (same && c.succeeded()) longest = std::max(longest, lasted(c.entered, c.left));
  }
  return longest;
}

WaitThreshold learned(Duration longest, Duration floor) {
  return {std::max(floor, std::min(longest, kLongestDuration / kFactor) * kFactor), longest};
}

}  // namespace

std::string WaitThreshold::text() const {
  const std::string text = "for more than " + to_text(limit);
  if (longest == Duration::zero()) return text;
  return fmt::format("{}; the longest such wait before was {}", text, to_text(longest));
}

Duration while_starved(Duration limit, Duration patience, Duration starved) {
  return limit + std::min(patience * 2, starved);
}

Instant waits_since(const WaitEdge& e) { return e.held ? e.held->entered : e.call->entered; }

Instant outside_since(const Process& p) {
  Instant since = p.view->opened;
  for (const Call& c : p.calls)
    if (counts(c)) since = std::max(since, inside_of(c, {}).second);
  return since;
}

WaitThreshold patience_with_absence(const JobView& job, const CommGroup& group, const WaitEdge& e,
                                    Duration floor) {
  Duration longest{0};
  for (const Member& m : group.members) {
    if (!m.process || !m.comm) continue;
    longest = std::max({longest, longest_absence(*m.process, job.timeline().look),
                        longest_wait(*m.process, m.comm->index, e)});
  }
  return learned(longest, floor);
}

WaitThreshold patience_with_joining(const JobView& job, Duration floor) {
  Duration longest{0};
  for (const auto& p : job.processes()) {
    longest = std::max(longest, longest_absence(*p, job.timeline().look));
    for (const Call& c : p->calls)
      if (c.op() == RF_OP_COMM_CREATE && c.succeeded() &&
          (c.traits().meets_by_id || c.traits().numbers_groups))
        longest = std::max(longest, lasted(c.entered, c.left));
  }
  return learned(longest, floor);
}

WaitThreshold patience_with_completion(const CommGroup& group, uint16_t op, Duration floor) {
  Duration longest{0};
  const auto first = std::find_if(group.members.begin(), group.members.end(),
                                  [](const Member& m) { return m.comm != nullptr; });
  for (const Call* c : first == group.members.end() ? std::vector<const Call*>{} : first->calls) {
    if (c->op() != op || !c->succeeded()) continue;
    Instant entered, left;
    for (const Member& m : group.members)
      if (const Call* own = m.comm ? m.at(c->seq) : nullptr; own && own->succeeded()) {
        entered = std::max(entered, own->entered);
        left = std::max(left, own->left);
      }
    longest = std::max(longest, lasted(entered, left));
  }
  return learned(longest, floor);
}

WaitThreshold patience_with_sends(const CommGroup& group, Duration floor) {
  static const std::vector<Call> kNone;
  Duration longest{0};
  for (const Member& m : group.members)
    for (const Call& c : m.comm ? m.process->calls : kNone)
      if (c.op() == RF_OP_SEND && c.comm() == m.comm->index && c.succeeded())
        longest = std::max(longest, lasted(c.entered, c.left));
  return learned(longest, floor);
}

}  // namespace rankfault
