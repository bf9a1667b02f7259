// ended_by_launcher: see ended_by_launcher.h.
#include "harness/diagnose/ended_by_launcher.h"

#include <algorithm>
#include <csignal>

namespace rankfault {
namespace {

constexpr TimeNs kTogether = 5'000'000;

bool is_of_launchers(int signal) {
  return signal == SIGTERM || signal == SIGKILL || signal == SIGINT || signal == SIGHUP || signal == SIGCONT;
}

// By its own doing: an exit, an abort, a fault in memory. Launchers send none of these.
bool ended_badly_by_itself(const Process& p) {
  const ProcessEnd& end = p.view->end;
  if (!p.ended() || !end.status_known) return false;
  if (!end.by_signal) return end.value != 0;
  return !is_of_launchers(end.value);
}

bool aborted(const Process& p, TimeNs before) {
  return std::any_of(p.calls.begin(), p.calls.end(), [&](const Call& c) {
    return c.op() == RF_OP_COMM_ABORT && c.library() == RF_LIB_MPI && c.entered < before;
  });
}

bool came_before(const Process& other, const Process& p) {
  const TimeNs end = p.view->end.time;
  if (aborted(other, end)) return true;
  if (!other.ended() || other.view->end.time >= end) return false;
  if (ended_badly_by_itself(other)) return true;
  const bool killed = other.view->end.by_signal || !other.view->end.status_known;
  return killed && (p.view->end.outlived > other.view->end.time || end >= other.view->end.time + kTogether);
}

}  // namespace

const Process* ended_by_launcher(const JobView& job, const Process& p) {
  const ProcessEnd& end = p.view->end;
  if (!job.timeline().launcher_ends_all || !p.ended() || !end.status_known || !end.by_signal) return nullptr;
  if (!is_of_launchers(end.value) || aborted(p, end.time)) return nullptr;
  const Process* first = nullptr;
  for (const auto& other : job.processes()) {
    if (other.get() == &p || other->rank() < 0 || job.rank(other->rank()) != other.get()) continue;
    if (!came_before(*other, p)) continue;
    const TimeNs at = other->ended() ? other->view->end.time : end.time;
    if (!first || at < first->view->end.time) first = other.get();
  }
  return first;
}

}  // namespace rankfault
