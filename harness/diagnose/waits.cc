// waits: see waits.h.
#include "harness/diagnose/waits.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/messages.h"
#include "harness/diagnose/needs.h"
#include "harness/diagnose/words.h"

namespace rankfault {

namespace {

// Inside a nonblocking call nobody waits yet; its work does, once the call has returned.
bool is_awaited(const Call& c) {
  return (c.open() && !(c.flags & RF_CALL_NONBLOCKING)) || c.status == Call::Status::kPending;
}

// The host call of NCCL needs nobody; what its stream waits for is another matter (streams.h).
bool is_of_a_stream(const Process& p, const Call& c) { return c.library == RF_LIB_NCCL || p.has_streams(); }

void collective_waits(const CommGroup& group, const Member& waiter, std::vector<WaitEdge>& edges) {
  for (const Call* c : waiter.calls) {
    if (!is_awaited(*c) || c->op == RF_OP_FINALIZE || is_of_a_stream(*waiter.process, *c)) continue;
    const Needs needs = needs_of(*c, waiter.rank, group.size, group.flags);
    const Call* held = waiter.process->held_by(*c);
    for (const Member& m : group.members) {
      if (&m == &waiter || !m.process) continue;
      const Known entered = m.entered(c->seq);
      if (entered != Known::kYes)
        edges.push_back({&group, &waiter, c, &m, needs.certainly(m.rank), entered, held, false});
    }
  }
}

// A message that may come from several is awaited from nobody when one of them has sent it.
void message_waits(const CommGroup& group, const Member& waiter, const Call& c,
                   std::vector<WaitEdge>& edges) {
  const Partners partners = partners_of(c, group);
  const bool none_left = nothing_left(c, waiter, group);
  std::vector<WaitEdge> found;
  for (const int rank : partners.ranks) {
    const Member& partner = group.members[static_cast<size_t>(rank)];
    const Known entered = none_left ? Known::kNo : partner_entered(c, waiter, partner);
    if (entered == Known::kYes) return;
    const bool one_of = partners.ranks.size() > 1;
    found.push_back({&group, &waiter, &c, &partner, partners.by_need && !one_of, entered,
                     waiter.process->held_by(c), one_of});
  }
  edges.insert(edges.end(), found.begin(), found.end());
}

void all_message_waits(const JobView& job, const Process& p, std::vector<WaitEdge>& edges) {
  for (const Call& c : p.calls) {
    if (!is_message(c.op) || !is_awaited(c) || is_of_a_stream(p, c)) continue;
    const CommGroup* group = job.group(p, c.comm);
    const Member* me = group && !(group->flags & RF_COMM_INTER) ? group->of(p) : nullptr;
    if (me) message_waits(*group, *me, c, edges);
  }
}

}  // namespace

const std::vector<WaitEdge>& JobView::waits() const {
  if (waits_) return *waits_;
  auto edges = std::make_shared<std::vector<WaitEdge>>();
  for (const CommGroup& group : comms())
    for (const Member& waiter : group.members)
      if (waiter.comm && !waiter.process->ended()) collective_waits(group, waiter, *edges);
  for (const auto& p : processes())
    if (!p->ended()) all_message_waits(*this, *p, *edges);
  waits_ = std::move(edges);
  return *waits_;
}

std::vector<WaitEdge> waiting_for(const std::vector<WaitEdge>& all, const Process& process) {
  std::vector<WaitEdge> edges;
  for (const WaitEdge& e : all)
    if (e.is_need && e.entered == Known::kNo && e.missing->process == &process) edges.push_back(e);
  return edges;
}

void tell_waiters(Finding& f, const JobView& job, const std::vector<WaitEdge>& edges) {
  f.attempt = job.attempt();
  if (edges.empty()) return;
  const WaitEdge& first = edges.front();
  f.op = op_text(first.call->op);
  set_comm(f, *first.group);
  set_seq(f, *first.call);
  f.ends_by = ends_by_of(*first.call, first.waiter->comm);
  std::vector<Seat> seats;
  for (const WaitEdge& e : edges) {
    if (e.group != first.group) continue;
    seats.push_back({e.waiter, e.call});
    f.evidence.push_back(
        fmt::format("rank {} waits in {}", e.waiter->world_rank, call_text(*e.call, *e.group)));
  }
  f.sides = sides_of(seats, *first.group);
}

}  // namespace rankfault
