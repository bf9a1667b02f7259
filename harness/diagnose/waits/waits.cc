#include "harness/diagnose/waits/waits.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/messages/messages.h"
#include "harness/diagnose/model/nccl_groups.h"
#include "harness/diagnose/model/needs.h"
#include "harness/diagnose/model/words.h"

namespace rankfault {

namespace {

// No rank waits yet inside a nonblocking call; its work is awaited once the call has returned.
bool is_awaited(const Call& c) {
  return (c.open() && !(c.flags() & RF_CALL_NONBLOCKING)) || c.status == Call::Status::kPending;
}

// streams.h handles what a recorder reports about streams.
bool is_of_a_stream(const Process& p, const Call& c) { return c.traits().runs_on_streams || p.has_streams(); }

// Returns the call in which a thread waits for an operation of NCCL: a host wait that names it, or the host
// call itself, in which the library may connect. null: the work overlaps with the program's.
const Call* held_by_stream(const Process& p, const Call& c) {
  if (p.has_streams() || !is_collective(c.op())) return nullptr;
  return c.open() ? &c : c.status == Call::Status::kPending ? p.held_by(c) : nullptr;
}

// The same for a message. A message in a group waits in the group's end, where NCCL may connect the two
// ranks.
const Call* message_held_by_stream(const Process& p, const Call& c) {
  if (p.has_streams() || c.count() == 0) return nullptr;
  if (c.open()) return in_nccl_group(p, c) ? nullptr : &c;
  if (c.status != Call::Status::kPending) return nullptr;
  const Call* held = p.held_by(c);
  return held ? held : open_group_end(p, c);
}

const Place& place_at(const CommGroup& group, uint64_t seq, Waits& waits) {
  Place& place = waits.places[{&group, seq}];
  if (place.group) return place;
  place.group = &group;
  place.seq = seq;
  for (const Member& m : group.members)
    if (const Known entered = m.process ? m.entered(seq) : Known::kYes; entered != Known::kYes)
      place.missing.emplace_back(&m, entered);
  return place;
}

void collective_waits(const CommGroup& group, const Member& waiter, Waits& waits) {
  for (const Call* c : waiter.calls) {
    const bool of_a_stream = is_of_a_stream(*waiter.process, *c);
    const Call* held = of_a_stream ? held_by_stream(*waiter.process, *c) : waiter.process->held_by(*c);
    if (of_a_stream ? !held : !is_awaited(*c) || c->op() == RF_OP_FINALIZE) continue;
    waits.collective.push_back(
        {&place_at(group, waiter.least_place(*c), waits), &waiter, c, held, needs_of(*c, waiter, group)});
  }
}

// A receive needs its send. NCCL decides whether it holds a send back until it is received.
void stream_message_waits(const CommGroup& group, const Member& waiter, const Call& c,
                          std::vector<WaitEdge>& edges) {
  const Call* held = message_held_by_stream(*waiter.process, c);
  const bool there = c.peer() >= 0 && static_cast<size_t>(c.peer()) < group.members.size();
  if (!held || !there || c.peer() == waiter.rank) return;
  const Member& partner = group.members[static_cast<size_t>(c.peer())];
  if (!nccl_messages_known(waiter) || !nccl_messages_known(partner)) return;
  const Known entered = partner_entered(c, waiter, partner);
  if (entered == Known::kYes) return;
  edges.push_back({&group, &waiter, &c, &partner, receives(c), entered, held, false});
}

// A message that may come from several ranks is no longer awaited when one of them has sent it.
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
    const bool of_a_stream = is_of_a_stream(p, c);
    if (!is_message(c.op()) || (!of_a_stream && !is_awaited(c))) continue;
    const CommGroup* group = job.group(p, c.comm());
    const Member* me = group && !(group->flags & RF_COMM_INTER) ? group->of(p, c.comm()) : nullptr;
    if (me && of_a_stream)
      stream_message_waits(*group, *me, c, edges);
    else if (me)
      message_waits(*group, *me, c, edges);
  }
}

}  // namespace

WaitEdge PlaceWait::edge_to(const Member& m, Known entered) const {
  return {place->group, waiter, call, &m, needs_member(m), entered, held, false};
}

const Waits& JobView::waits() const {
  if (waits_) return *waits_;
  auto found = std::make_shared<Waits>();
  for (const CommGroup& group : comms()) {
    const size_t first = found->collective.size();
    for (const Member* waiter : group.unfinished)
      if (!waiter->process->ended()) collective_waits(group, *waiter, *found);
    found->of_group[&group] = {first, found->collective.size()};
  }
  for (const auto& p : processes())
    if (!p->ended()) all_message_waits(*this, *p, found->messages);
  waits_ = std::move(found);
  return *waits_;
}

std::vector<WaitBeside> waits_beside(const JobView& job, const Process& process) {
  const Waits& waits = job.waits();
  std::vector<WaitBeside> found;
  for (const auto& [group, me] : process.seats) {
    const auto [first, end] = waits.of_group.at(group);
    for (size_t i = first; i < end; ++i)
      if (waits.collective[i].waiter != me) found.push_back({&waits.collective[i], me});
  }
  return found;
}

std::vector<WaitEdge> waiting_for(const JobView& job, const Process& process) {
  std::vector<WaitEdge> edges;
  for (const auto& [wait, me] : waits_beside(job, process))
    if (wait->needs_member(*me) && me->entered(wait->place->seq) == Known::kNo)
      edges.push_back(wait->edge_to(*me, Known::kNo));
  for (const WaitEdge& e : job.waits().messages)
    if ((e.is_need || e.group->traits().runs_on_streams) && e.entered == Known::kNo &&
        e.missing->process == &process)
      edges.push_back(e);
  return edges;
}

void describe_waiters(Finding& f, const JobView& job, const std::vector<WaitEdge>& edges) {
  f.attempt = job.attempt();
  if (edges.empty()) return;
  const WaitEdge& first = edges.front();
  f.op = op_text(first.call->op());
  set_comm(f, *first.group);
  set_seq(f, *first.call);
  f.ends_by = ends_by_of(*first.call, first.waiter->comm);
  std::vector<MemberCall> member_calls;
  for (const WaitEdge& e : edges) {
    if (e.group != first.group) continue;
    member_calls.push_back({e.waiter, e.call});
    f.evidence.push_back(
        fmt::format("rank {} {}", e.waiter->world_rank, stands_text("waits in", *e.call, e.held, *e.group)));
  }
  f.sides = sides_of(member_calls, *first.group);
}

}  // namespace rankfault
