#include "harness/diagnose/waits/joining_ranks.h"

#include <algorithm>
#include <csignal>

#include "harness/agent/named_calls.h"
#include "harness/diagnose/model/made.h"
#include "harness/diagnose/model/nccl_groups.h"
#include "harness/diagnose/model/numbered_groups.h"

namespace rankfault {
namespace {

// A rank frees and aborts its communicators when it ends.
bool cleans_up(const Call& c) {
  return c.op() == RF_OP_COMM_ABORT || c.op() == RF_OP_COMM_FREE || c.op() == RF_OP_FINALIZE;
}

// Returns the newest call, ignoring file calls and allocations of the library itself, calls known only by
// their names (an initialisation also reads a store), and clean-up calls.
const Call* newest_call(const Process& p) {
  const Call* newest = nullptr;
  for (const Call& c : p.calls)
    if (!rf_is_inner(c.op()) && !rf_is_named(c.op()) && !cleans_up(c) &&
        (!newest || c.entered > newest->entered))
      newest = &c;
  return newest;
}

// Returns the initialisation of the library that the process is in, whatever its other threads do; else its
// newest call.
const Call* open_or_newest_call(const Process& p) {
  for (const Call& c : p.calls)
    if (c.op() == RF_OP_INIT && c.open()) return &c;
  return newest_call(p);
}

// abort() is the process's own decision; any other signal comes from outside.
bool was_ended_by_others(const Process& p) {
  return p.ended() && (!p.view->end.status_known || (p.view->end.by_signal && p.view->end.value != SIGABRT));
}

Joining joining_in(const JobView& job, const Process& p, const Call& call) {
  if (call.status == Call::Status::kFailed) return {&p, &call, call.left, true};
  Joining joining{&p, &call, job.timeline().look, false};
  const auto gave_up = [&](Instant at) {
    if (!joining.gave_up || at < joining.until) joining.until = at;
    joining.gave_up = true;
  };
  // While a thread is in the initialisation, a clean-up by another thread is unrelated.
  for (const Call& c : p.calls)
    if (!call.open() && cleans_up(c) && c.entered > call.entered) gave_up(c.entered);
  if (p.ended()) gave_up(p.view->end.time);
  return joining;
}

// Split, shrink and grow of an existing member name their parent.
bool is_initialisation(const Call& c) {
  return c.traits().meets_by_id && c.op() == RF_OP_COMM_CREATE && c.comm() == RF_NO_COMM;
}

bool somebody_is_missing(const Process& p) {
  return std::any_of(p.seats.begin(), p.seats.end(), [](const auto& seat) {
    const CommGroup& group = *seat.first;
    return group.traits().meets_by_id && std::any_of(group.members.begin(), group.members.end(),
                                                     [](const Member& m) { return !m.process; });
  });
}

}  // namespace

std::vector<Joining> joining(const JobView& job) {
  std::vector<Joining> out;
  for (const auto& p : job.processes()) {
    if (!made_op(*p, RF_OP_INIT) || was_ended_by_others(*p)) continue;
    const Call* const c = open_or_newest_call(*p);
    if (c && c->op() == RF_OP_INIT && !c->succeeded()) out.push_back(joining_in(job, *p, *c));
  }
  return out;
}

std::vector<Joining> joining_nccl(const JobView& job) {
  std::vector<Joining> out;
  for (const auto& p : job.processes()) {
    if (!made_calls_of(*p, &LibraryTraits::meets_by_id) || was_ended_by_others(*p)) continue;
    const Call* const newest = newest_call(*p);
    for (const Call& c : p->calls) {
      if (!is_initialisation(c)) continue;
      const bool is_newest = &c == newest && (!c.succeeded() || somebody_is_missing(*p));
      if (c.open() || is_newest || (c.succeeded() && open_group_end(*p, c)))
        out.push_back(joining_in(job, *p, c));
    }
  }
  return out;
}

std::vector<Joining> joining_numbered(const JobView& job) {
  std::vector<Joining> out;
  for (const auto& p : job.processes()) {
    if (p->ended() || !made_calls_of(*p, &LibraryTraits::numbers_groups)) continue;
    for (const Call& c : p->calls)
      if (c.open() && is_numbered_creation(c)) out.push_back(joining_in(job, *p, c));
  }
  return out;
}

}  // namespace rankfault
