// waits: see waits.h.
#include "harness/diagnose/waits.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/needs.h"
#include "harness/diagnose/words.h"

namespace rankfault {

std::vector<Edge> waits_now(const JobView& job) {
  std::vector<Edge> edges;
  for (const CommGroup& group : job.comms())
    for (const Member& waiter : group.members) {
      if (!waiter.comm || waiter.process->ended()) continue;
      for (const Call* c : waiter.calls) {
        // Inside a nonblocking call nobody waits yet; its work does, once the call has returned.
        const bool inside = c->open() && !(c->flags & RF_CALL_NONBLOCKING);
        const bool waits = inside || c->status == Call::Status::kPending;
        if (!waits || c->op == RF_OP_FINALIZE || c->library == RF_LIB_NCCL) continue;
        const Needs needs = needs_of(*c, waiter.rank, group.size, group.flags);
        for (const Member& m : group.members) {
          if (&m == &waiter || !m.process) continue;
          const Known entered = m.entered(c->seq);
          if (entered != Known::kYes)
            edges.push_back({&group, &waiter, c, &m, needs.certainly(m.rank), entered});
        }
      }
    }
  return edges;
}

std::vector<Edge> waiting_for(const std::vector<Edge>& all, const Process& process) {
  std::vector<Edge> edges;
  for (const Edge& e : all)
    if (e.is_need && e.entered == Known::kNo && e.missing->process == &process) edges.push_back(e);
  return edges;
}

Duration longest_wait(const JobView& job, const std::vector<Edge>& edges) {
  uint64_t longest = 0;
  const TimeNs look = job.timeline().look;
  for (const Edge& e : edges)
    if (look > e.call->entered) longest = std::max(longest, look - e.call->entered);
  return Duration(static_cast<int64_t>(longest));
}

void tell_waiters(Finding& f, const JobView& job, const std::vector<Edge>& edges) {
  f.attempt = job.attempt();
  if (edges.empty()) return;
  const Edge& first = edges.front();
  f.op = op_text(first.call->op);
  set_comm(f, *first.group);
  f.seq = SeqRange{first.call->seq, first.call->seq};
  f.ends_by = ends_by_of(*first.call, first.waiter->comm);
  std::vector<Seat> seats;
  for (const Edge& e : edges) {
    if (e.group != first.group) continue;
    seats.push_back({e.waiter, e.call});
    f.evidence.push_back(
        fmt::format("rank {} waits in {}", e.waiter->world_rank, call_text(*e.call, *e.group)));
  }
  f.sides = sides_of(seats, *first.group);
}

}  // namespace rankfault
