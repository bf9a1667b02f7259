#include "harness/diagnose/model/stream_entries.h"

#include <algorithm>

#include "harness/diagnose/model/nccl_groups.h"
#include "harness/diagnose/model/needs.h"

namespace rankfault {
namespace {

bool is_operation(const Call& c) {
  return c.traits().runs_on_streams && c.count() != 0 &&
         (is_collective(c.op()) || c.op() == RF_OP_SEND || c.op() == RF_OP_RECV);
}

bool is_incomplete(const Call& c) {
  return c.status == Call::Status::kPending || (c.open() && c.flags() & RF_CALL_NONBLOCKING);
}

// Returns the only host wait that the process is in, if no other thread of it makes calls on the
// communicator.
const Call* only_wait(const Member& m) {
  const Call* wait = nullptr;
  for (const LaneView& lane : m.process->view->lanes) {
    if (lane.kind != RF_LANE_THREAD || lane.state.where == RF_ENDED) continue;
    const Call* inside = m.process->inside(lane.index);
    const bool issues = m.comm->issuers == 0 || m.comm->issuers >> lane.index & 1;
    if (inside && inside->op() == RF_OP_STREAM_WAIT && !wait)
      wait = inside;
    else if (issues)
      return nullptr;
  }
  if (m.comm->issuers == 0 && !(m.comm->flags & RF_COMM_ISSUER_OVERFLOW)) return wait;
  return wait && only_issuer(*m.comm) == wait->lane ? wait : nullptr;
}

}  // namespace

std::optional<const Call*> StreamEntries::send_for(const Call& receive, const Member& me,
                                                   const Member& partner) const {
  const MessagesByPeer *received = order_.of(me, RF_OP_RECV), *sent = order_.of(partner, RF_OP_SEND);
  if (!received || !sent) return std::nullopt;
  const std::vector<const Call*>& receives = received->at(partner.rank);
  const auto place =
      static_cast<size_t>(std::find(receives.begin(), receives.end(), &receive) - receives.begin());
  const auto sends = sent->find(me.rank);
  return sends != sent->end() && place < sends->second.size() ? sends->second[place] : nullptr;
}

StreamEntries::StreamEntries(const JobView& job, Instant until) {
  for (const auto& p : job.processes())
    if (!p->ended() && !p->has_streams() && p->view->partial == 0 &&
        !(p->view->opaque & RF_OPAQUE_COMMUNICATION))
      add(job, *p, until);
  for (size_t i = 0; i < entries_.size(); ++i) at_[entries_[i].call] = i;
}

const StreamEntry* StreamEntries::of(const Call* call) const {
  const auto at = at_.find(call);
  return at == at_.end() ? nullptr : &entries_[at->second];
}

// In program order, lane by lane.
void StreamEntries::add(const JobView& job, const Process& p, Instant until) {
  struct Unit {
    int group = 0;
    std::vector<size_t> entries, before;
  };
  std::map<std::pair<uint32_t, int>, Unit> newest;  // by lane and stream
  const std::map<const Call*, int> groups = nccl_groups(p);
  for (const Call& c : p.calls) {
    if (!is_operation(c) || c.stream() == 0 || !is_incomplete(c) || c.entered > until) continue;
    const auto in = groups.find(&c);
    if (in != groups.end() && in->second == kNoClosedGroup) continue;
    const CommGroup* group = job.group(p, c.comm());
    const Member* me = group ? group->of(p) : nullptr;
    for (const auto& [g, m] : p.seats)  // of several members in one process, the one that calls
      if (g == group && m->comm->index == c.comm()) me = m;
    if (!me) continue;
    Unit& unit = newest[{c.lane, c.stream()}];
    const int number = in == groups.end() ? 0 : in->second;
    if (number == 0 || unit.group != number) unit = {number, {}, std::move(unit.entries)};
    unit.entries.push_back(entries_.size());
    entries_.push_back({group, me, &c, unit.before});
  }
}

std::vector<StreamStep> StreamEntries::steps_from(const StreamEntry& e) const {
  std::vector<StreamStep> steps;
  step_by_part(e, *e.member, e.call, steps);
  const bool receives = e.call->op() == RF_OP_RECV;
  if (!receives && !is_collective(e.call->op())) return steps;  // a send may be buffered
  const Needs needs = receives ? Needs{} : needs_of(*e.call, *e.member, *e.group);
  for (const Member& m : e.group->members) {
    if (&m == e.member || !m.process || !m.comm || m.process->ended()) continue;
    if (receives ? m.rank != e.call->peer() : !needs.certainly(m.rank)) continue;
    const std::optional<const Call*> part =
        receives ? send_for(*e.call, *e.member, m) : std::optional(m.at(e.call->seq));
    if (!part) continue;
    if (*part)
      step_by_part(e, m, *part, steps);
    else if (receives || m.entered(e.call->seq) == Known::kNo)
      step_by_wait(e, m, steps);
  }
  return steps;
}

void StreamEntries::step_by_part(const StreamEntry& e, const Member& at, const Call* part,
                                 std::vector<StreamStep>& steps) const {
  if (const StreamEntry* stands = of(part))
    for (const size_t i : stands->before) steps.push_back({&e, &at, part, &entries_[i]});
}

void StreamEntries::step_by_wait(const StreamEntry& e, const Member& at,
                                 std::vector<StreamStep>& steps) const {
  const Call* wait = only_wait(at);
  const auto named = wait ? at.process->waits_for.find(wait->lane) : at.process->waits_for.end();
  if (named == at.process->waits_for.end()) return;
  for (const uint64_t origin : named->second)
    if (const StreamEntry* awaited =
            of(at.process->find(static_cast<uint32_t>(origin >> 32), static_cast<uint32_t>(origin))))
      steps.push_back({&e, &at, nullptr, awaited});
}

bool StreamEntries::has_in_order(const Member& m, const Call& first, const StreamEntry& second) const {
  const Member* other = m.comm ? second.group->of(*m.process) : nullptr;
  const Call *a = m.comm ? m.at(first.seq) : nullptr, *b = other ? other->at(second.call->seq) : nullptr;
  return a && b && of(a) && of(b) && a->lane == b->lane && a->stream() == b->stream() &&
         a->number < b->number;
}

}  // namespace rankfault
