#include "harness/live/diagnosis_loop.h"

#include <algorithm>

#include "harness/base/assert.h"
#include "harness/base/log.h"

namespace rankfault {
namespace {

constexpr Duration kLongLookEvery = 500ms;
constexpr Duration kQuietLookEvery = 400ms;  // the second one reports a hang within a second
// At a job that moves, looks take at most 1/200 of the time of one core, and full looks half of that; at a
// job that stands still, a tenth. A large job is still looked at after the longest rest.
constexpr int kRestMoving = 200, kRestFull = 400, kRestQuiet = 10;
constexpr Duration kLongestRest = 200ms, kLongestMoving = 1s;
constexpr uint64_t kQuickCalls = 256;
constexpr Duration kFirstAgain = 5ms, kLastAgain = 320ms;  // after an end; each is twice the previous one
constexpr int kLastTries = 5;
constexpr Duration kSlowLook = 50ms;  // a longer look is noted in tool.log
constexpr Duration kPause = 100ms;    // ticks come every few milliseconds

bool has_proven(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.confidence == Confidence::kProven; });
}

// More calls may refute what a few calls infer.
void leave_out_guesses(Findings& quick) {
  std::erase_if(quick.all, [](const Finding& f) { return f.confidence != Confidence::kProven; });
  quick.proven_only = true;
}

}  // namespace

void DiagnosisLoop::tick(Instant now) {
  if (!is_known(next_long_look_)) next_long_look_ = now + kLongLookEvery;
  const Duration gap = is_known(ticked_) ? now - ticked_ : Duration::zero();
  ticked_ = now;
  const uint64_t activity = observer_.activity();
  const bool moving = activity != activity_, unseen = looked_at_ != activity_;
  activity_ = activity;
  if (moving) {
    delays_.clear();
    paused_ = Duration::zero();
  }
  if (gap > kPause) paused_ += gap;
  const bool due = now >= next_long_look_;
  const bool again = is_again_due(now);
  if (!due && !again && (moving || !unseen || now < rests_until_)) return;
  const Instant began = HostClock::now();
  if (!moving && !unseen) measure_starvation();
  if (moving)
    diagnose_now(again ? "after an end" : "still moving", Why::kMoving, true);
  else if (!diagnose_now(unseen ? "quiet" : "still quiet", Why::kQuiet, false))
    return;
  if (!moving) {
    looked_at_ = activity_;
    if (unseen) measure_starvation();
  }
  const Duration cost = HostClock::now() - began;
  if (again) {
    again_at_ = Instant{};
    again_gap_ = proved_ || again_gap_ >= kLastAgain ? Duration::zero() : 2 * std::max(again_gap_, cost);
  }
  next_long_look_ = now + (moving ? std::clamp(cost * kRestMoving, kLongLookEvery, kLongestMoving)
                                  : std::max(kQuietLookEvery, cost * kRestQuiet));
  rests_until_ = now + std::min(cost * kRestMoving, std::max(kLongestRest, cost * kRestQuiet));
}

bool DiagnosisLoop::is_again_due(Instant now) {
  if (again_gap_ == Duration::zero()) return false;
  if (!is_known(again_at_)) again_at_ = now + again_gap_;
  return now >= again_at_;
}

bool DiagnosisLoop::look(const char* reason) {
  const bool looked = diagnose_now(reason, Why::kEnd, false);
  if (!proved_) again_gap_ = std::max(again_gap_, kFirstAgain);
  return looked;
}

void DiagnosisLoop::last_look(const char* reason) {
  for (int tries = 0; tries < kLastTries; ++tries)
    if (diagnose_now(reason, Why::kLast, tries + 1 == kLastTries)) return;
}

// Never before a look at something new, whose findings must not wait for this.
void DiagnosisLoop::measure_starvation() {
  measured_ = HostClock::now();
  if (delays_.empty()) rested_ = measured_;
  for (const ProcessId& id : alive_)
    if (const auto [delay, is_new] = delays_.try_emplace(id, id.pid); !is_new) delay->second.look();
}

// Since the measurement the process may have waited all the time: without this term, a later look that knows
// more would withdraw a finding that is reported now. If the tool itself did not run, the job may not have
// run either.
void DiagnosisLoop::note_starvation(ProcessView& p, Instant look) const {
  const auto delay = delays_.find(p.id);
  p.starved = paused_;
  p.measured_since = delay == delays_.end() ? look : rested_;
  if (delay == delays_.end() || !delay->second.known()) return;
  p.starved += delay->second.waited() + lasted(measured_, look);
}

std::optional<DiagnosisLoop::Seen> DiagnosisLoop::see(uint64_t calls, bool although_moving) {
  Seen seen;
  seen.timeline = canonical(observer_.look(true, calls));
  alive_.clear();
  for (ProcessView& p : seen.timeline.processes) {
    if (p.end.kind == EndKind::kAlive) alive_.push_back(p.id);
    note_starvation(p, seen.timeline.look);
    for (const LaneView& lane : p.lanes) seen.shows_all = seen.shows_all && lane.first == 0;
  }
  if (!seen.timeline.consistent && !although_moving) return std::nullopt;
  seen.findings = diagnose(seen.timeline, options_.diagnose);
  return seen;
}

// A proof needs no more than the facts from which it was made.
bool DiagnosisLoop::needs_full_look(const Seen& quick, Why why, Instant now) const {
  if (quick.shows_all) return false;
  if (now >= next_full_look_) return true;
  const std::vector<Finding> news = log_.news(quick.findings, false);
  if (std::all_of(news.begin(), news.end(),
                  [](const Finding& f) { return f.confidence == Confidence::kProven; }))
    return false;
  return why == Why::kEnd || why == Why::kQuiet;
}

bool DiagnosisLoop::diagnose_now(const char* reason, Why why, bool although_moving) {
  const bool last = why == Why::kLast;
  proved_ = false;
  std::optional<Seen> seen = see(last ? UINT64_MAX : kQuickCalls, although_moving);
  if (!seen) return false;
  const Instant began = HostClock::now();
  if (!last && needs_full_look(*seen, why, began)) {
    std::optional<Seen> full = see(UINT64_MAX, although_moving);
    if (!full) return false;
    seen = std::move(full);
    next_full_look_ = HostClock::now() + (HostClock::now() - began) * kRestFull;
  } else if (!last && !seen->shows_all) {
    leave_out_guesses(seen->findings);
  }
  proved_ = has_proven(seen->findings.all);
  keep(*seen, reason, last);
  const Duration took = HostClock::now() - began;
  if (last || took > kSlowLook)
    tool_log(LogLevel::kDebug, "a look ({}) took {:.1f} ms: {} processes, {} findings{}", reason,
             took / 1.0ms, seen->timeline.processes.size(), seen->findings.all.size(),
             proved_ ? ", one proven" : "");
  return true;
}

void DiagnosisLoop::keep(const Seen& seen, const char* reason, bool last) {
  const std::vector<Finding> news = log_.add(seen.findings, last);
  if (news.empty() && !last) return;
  // The findings come first: the state of many ranks takes milliseconds to write.
  const uint64_t line = journal_.lines() + news.size() + 1;
  for (const Finding& finding : news) journal_.write(events::Finding{{line, to_json(finding)}});
  if (options_.written) options_.written(has_proven(news));
  const uint64_t written = journal_.write(events::Look{.reason = reason,
                                                       .last = last,
                                                       .consistent = seen.timeline.consistent,
                                                       .strict_known = seen.findings.strict_known,
                                                       .state = state_to_json(seen.timeline)});
  RF_ASSERT(written == line, "another thread writes the journal");
  observer_.save(seen.timeline);  // after the findings, because it makes a file for each process
  if (last) {
    for (const Finding& f : seen.findings.unsafe) journal_.write(events::Unsafe{{line, to_json(f)}});
    for (const Finding& f : seen.findings.remarks) journal_.write(events::Remark{{line, to_json(f)}});
  }
  if (options_.news && !news.empty()) options_.news(seen.timeline, news);
}

}  // namespace rankfault
