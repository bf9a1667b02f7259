#include "harness/diagnose/waits/ended_by_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "harness/diagnose/model/end_times.h"
#include "harness/diagnose/model/made.h"
#include "harness/diagnose/timing/clocks.h"

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
  return p.view->end.value == SIGKILL && is_known(cause.explained_until) &&
         maybe_before(*p.view, p.view->end.time, *cause.process->view, cause.explained_until);
}

// Whether the launcher may have ended the process because of that cause, as far as the clocks of two nodes
// tell.
bool LauncherEnds::may_cause(const Cause& cause, const Process& p) {
  const ProcessView &c = *cause.process->view, &ended = *p.view;
  return error_between(c, ended) != Duration{} && is_of_launchers(ended.end.value) && !aborted(p) &&
         maybe_before(c, cause.at, ended, ended.end.time) &&
         (cause.by_itself || maybe_before(c, cause.at, ended, ended.end.outlived) ||
          !certainly_before(ended, ended.end.time, c, cause.at + kTogether));
}

std::string LauncherEnds::why_unclear(const Process& p) const {
  const ProcessEnd& end = p.view->end;
  if (!p.ended() || !end.status_known || !end.by_signal) return "";
  for (const Cause& c : causes_) {
    if (c.process == &p) continue;
    if (may_cause(c, p)) {
      const std::string why = why_unordered(*c.process->view, c.at, *p.view, end.time);
      const char* did = aborted(*c.process) ? "called MPI_Abort" : "ended";
      if (!why.empty()) return fmt::format("rank {} may have {} before: {}", c.process->rank(), did, why);
      return fmt::format("the launcher may have ended it after rank {}", c.process->rank());
    }
    if (c.by_itself && maybe_before(*c.process->view, c.at, *p.view, end.time) && may_follow(c, p))
      return "another rank had failed in a call and ended";
  }
  return "";
}

const Process* LauncherEnds::first_before(const Process& p) const {
  const ProcessEnd& end = p.view->end;
  if (!p.ended() || !end.status_known || !end.by_signal || !is_of_launchers(end.value)) return nullptr;
  if (aborted(p)) return nullptr;
  for (const Cause& cause : causes_) {
    if (cause.at >= end.time) break;
    if (cause.process == &p || may_follow(cause, p)) continue;
    const ProcessView& c = *cause.process->view;
    if (!certainly_before(c, cause.at, *p.view, end.time)) continue;
    if (cause.by_itself || certainly_before(c, cause.at, *p.view, end.outlived) ||
        !maybe_before(*p.view, end.time, c, cause.at + kTogether))
      return cause.process;
  }
  return nullptr;
}

}  // namespace rankfault
