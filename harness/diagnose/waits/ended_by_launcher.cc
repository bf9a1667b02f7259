#include "harness/diagnose/waits/ended_by_launcher.h"

#include <algorithm>
#include <csignal>

#include "harness/diagnose/model/end_times.h"
#include "harness/diagnose/model/made.h"

namespace rankfault {
namespace {

bool is_of_launchers(int signal) {
  return signal == SIGTERM || signal == SIGKILL || signal == SIGINT || signal == SIGHUP || signal == SIGCONT;
}

bool was_killed(const Process& p) { return p.view->end.by_signal || !p.view->end.status_known; }

// It ended by its own action: an exit, an abort, a memory fault. Launchers send none of these signals.
bool ended_badly_by_itself(const Process& p) {
  const ProcessEnd& end = p.view->end;
  if (!p.ended() || !end.status_known) return false;
  return end.by_signal ? !is_of_launchers(end.value) : end.value != 0;
}

Instant aborted_at(const Process& p) {
  Instant first = kEndOfTime;
  if (!made_op(p, RF_OP_COMM_ABORT)) return first;
  for (const Call& c : p.calls)
    if (c.op() == RF_OP_COMM_ABORT && c.traits().abort_ends_job) first = std::min(first, c.entered);
  return first;
}

// A call may have failed right before `at` because another process ended. That end is seen up to kSeenLate
// after the failure: until this time. Not known: no call had failed right before.
Instant explained_until(const Process& p, Instant at) {
  Instant until;
  for (const Call& c : p.calls)
    if (c.status == Call::Status::kFailed && c.left <= at && c.left + kSeenLate >= at)
      until = std::max(until, c.left + kSeenLate);
  return until;
}

}  // namespace

bool aborted(const Process& p) { return aborted_at(p) < (p.ended() ? p.view->end.time : kEndOfTime); }

LauncherEnds::LauncherEnds(const JobView& job) {
  if (!job.timeline().launcher_ends_all) return;
  for (const auto& p : job.processes()) {
    if (p->rank() < 0 || job.rank(p->rank()) != p.get()) continue;
    const Instant abort = aborted_at(*p);
    const Instant end =
        ended_badly_by_itself(*p) || (p->ended() && was_killed(*p)) ? p->view->end.time : kEndOfTime;
    const bool by_itself = abort <= end || ended_badly_by_itself(*p);
    const Instant at = std::min(abort, end);
    if (at != kEndOfTime) causes_.push_back({p.get(), at, explained_until(*p, at), by_itself});
  }
  std::stable_sort(causes_.begin(), causes_.end(),
                   [](const Cause& a, const Cause& b) { return a.at < b.at; });
}

bool LauncherEnds::may_follow(const Cause& cause, const Process& p) {
  return p.view->end.value == SIGKILL && p.view->end.time < cause.explained_until;
}

bool LauncherEnds::is_unclear(const Process& p) const {
  const ProcessEnd& end = p.view->end;
  if (!p.ended() || !end.status_known || !end.by_signal) return false;
  return std::any_of(causes_.begin(), causes_.end(), [&](const Cause& c) {
    return c.process != &p && c.by_itself && c.at < end.time && may_follow(c, p);
  });
}

const Process* LauncherEnds::first_before(const Process& p) const {
  const ProcessEnd& end = p.view->end;
  if (!p.ended() || !end.status_known || !end.by_signal || !is_of_launchers(end.value)) return nullptr;
  if (aborted(p)) return nullptr;
  for (const Cause& cause : causes_) {
    if (cause.at >= end.time) break;
    if (cause.process == &p || may_follow(cause, p)) continue;
    if (cause.by_itself || end.outlived > cause.at || end.time >= cause.at + kTogether) return cause.process;
  }
  return nullptr;
}

}  // namespace rankfault
