#include "harness/diagnose/waits/ended.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "harness/base/last_words.h"
#include "harness/diagnose/messages/messages.h"
#include "harness/diagnose/messages/unmatched_messages.h"
#include "harness/diagnose/model/end_times.h"
#include "harness/diagnose/model/needs.h"
#include "harness/diagnose/model/words.h"

namespace rankfault {
namespace {

bool unfinished(const Call& c) { return !c.succeeded(); }

// The edge from the waiter's call to the ended member that did not enter it or died in it.
WaitEdge edge_of(const CommGroup& group, const Member& waiter, const Call& call, const Member& ended) {
  WaitEdge e{&group,
             &waiter,
             &call,
             &ended,
             false,
             ended.entered(waiter.least_place(call)),
             waiter.process->held_by(call)};
  e.is_need = needs_of(call, waiter, group).certainly(ended.rank);
  return e;
}

Instant first_entered(const UnmetNeed& u) {
  Instant first = kEndOfTime;
  for (const WaitEdge& e : u.edges) first = std::min(first, e.call->entered);
  return first;
}

// Keeps the edges of the smallest seq at which a rank needs this member's part. An edge of need takes
// precedence over an edge by algorithm at a smaller seq.
void keep_first(std::vector<WaitEdge>& edges) {
  const bool any_need = std::any_of(edges.begin(), edges.end(), [](const WaitEdge& e) { return e.is_need; });
  if (any_need) std::erase_if(edges, [](const WaitEdge& e) { return !e.is_need; });
  uint64_t seq = ~uint64_t{0};
  for (const WaitEdge& e : edges) seq = std::min(seq, e.call->seq);
  std::erase_if(edges, [&](const WaitEdge& e) { return e.call->seq != seq; });
}

bool ended_before(const Process& p, const Process& other) {
  return p.ended() && is_known(p.view->end.time) &&
         certainly_before(*p.view, p.view->end.time + kTogether, *other.view, other.view->end.time);
}

// A process that was seen alive after that end outlived it. So did a process whose call failed after it.
bool ended_together(const WaitEdge& e, const Process& other) {
  const ProcessView &p = *e.waiter->process->view, &o = *other.view;
  if (!is_known(o.end.time) || certainly_before(o, o.end.time, p, p.end.outlived)) return false;
  if (e.call->status == Call::Status::kFailed && certainly_before(o, o.end.time, p, e.call->left))
    return false;
  return p.dying || (e.waiter->process->ended() && maybe_before(p, p.end.time, o, o.end.time + kTogether));
}

// The waiter's call had failed, or may have, while the other was still alive: because of a limit, or because
// it was refused.
bool failed_before(const WaitEdge& e, const Process& ended) {
  return e.call->status == Call::Status::kFailed && is_known(ended.view->end.time) &&
         maybe_before(*e.waiter->process->view, e.call->left + kTogether, *ended.view, ended.view->end.time);
}

std::string why_not_first(const WaitEdge& e, const Process& ended) {
  const ProcessView &waiter = *e.waiter->process->view, &other = *ended.view;
  const int rank = e.waiter->world_rank;
  if (ended_together(e, ended)) {
    const std::string unordered = why_unordered(other, other.end.time, waiter, waiter.end.time);
    if (waiter.dying || unordered.empty())
      return fmt::format("rank {} waits for it and ended at the same time, perhaps first", rank);
    return fmt::format("rank {} waits for it and may have ended first: {}", rank, unordered);
  }
  if (!failed_before(e, ended)) return "";
  const std::string unordered = why_unordered(other, other.end.time, waiter, e.call->left);
  if (unordered.empty())
    return fmt::format("the call of rank {} had failed before this end, so this end did not cause it", rank);
  return fmt::format("the call of rank {} may have failed before this end: {}", rank, unordered);
}

// It would be a false proof to blame a rank that the launcher ended because of the waiter.
void doubt_who_was_first(Finding& f, const UnmetNeed& u) {
  const Process& ended = *u.member->process;
  std::string why;
  for (const WaitEdge& e : u.edges)
    if (why.empty()) why = why_not_first(e, ended);
  if (why.empty()) return;
  f.assumes.push_back({"ended_first", false, std::move(why)});
  only_infer(f);
}

UnmetNeed unmet_on(const CommGroup& group, const Member& ended) {
  UnmetNeed u{&group, &ended, 0, false, 0, {}};
  // A process may die with more than its last enqueued operation in flight.
  const uint64_t first = group.traits().runs_on_streams ? 0 : ended.last_entered();
  std::vector<WaitEdge> in_flight;
  for (const Member* one : group.unfinished) {
    const Member& waiter = *one;
    if (&waiter == &ended || ended_before(*waiter.process, *ended.process)) continue;
    const auto from = std::lower_bound(waiter.calls.begin(), waiter.calls.end(), first,
                                       [](const Call* c, uint64_t seq) { return c->seq < seq; });
    for (auto it = from; it != waiter.calls.end(); ++it) {
      if (!unfinished(**it) || (*it)->op() == RF_OP_FINALIZE || (*it)->op() == RF_OP_COMM_FREE) continue;
      WaitEdge e = edge_of(group, waiter, **it, ended);
      if (e.entered == Known::kNo)
        u.edges.push_back(e);
      else if (const Call* own = ended.at((*it)->seq); own && !own->succeeded() && e.is_need)
        in_flight.push_back(e);
    }
  }
  if (u.edges.empty() && !in_flight.empty()) {
    u.edges = std::move(in_flight);
    u.in_flight = true;
  }
  if (u.edges.empty()) return {};
  for (const WaitEdge& e : u.edges) u.to = std::max(u.to, e.call->seq);
  keep_first(u.edges);
  const auto lives = [&](const WaitEdge& e) {
    return !ended_together(e, *ended.process) && !failed_before(e, *ended.process);
  };
  if (std::any_of(u.edges.begin(), u.edges.end(), lives))
    std::erase_if(u.edges, [&](const WaitEdge& e) { return !lives(e); });
  u.seq = u.edges.front().call->seq;
  return u;
}

bool better(const UnmetNeed& a, const UnmetNeed& b) {
  if (!b.group) return a.group != nullptr;
  if (a.in_flight != b.in_flight) return b.in_flight;
  if (a.edges.front().is_need != b.edges.front().is_need) return a.edges.front().is_need;
  return first_entered(a) < first_entered(b);
}

}  // namespace

UnmetNeed unmet_needs(const JobView& job, const Process& ended) {
  UnmetNeed best;
  for (const auto& [group, member] : ended.seats)
    if (UnmetNeed u = unmet_on(*group, *member); u.group && better(u, best)) best = std::move(u);
  for (const UnmatchedMessage& message : job.unsent()) {
    const WaitEdge& e = message.edges.front();
    if (message.edges.size() != 1 || e.missing->process != &ended) continue;
    UnmetNeed u{e.group, e.missing, e.call->seq, false, e.call->seq, {e}};
    if (better(u, best)) best = std::move(u);
  }
  return best;
}

std::string unmet_need_text(const UnmetNeed& u) {
  const WaitEdge& first = u.edges.front();
  const std::string call = short_call(*first.call, *u.group);
  if (is_message(first.call->op()))
    return fmt::format("and left {} of rank {} without its partner", call, first.waiter->world_rank);
  if (u.in_flight && first.call->traits().runs_on_streams) return fmt::format("with {} in flight", call);
  return fmt::format("{} {}", u.in_flight ? "inside" : "and never entered", call);
}

void describe_unmet(Finding& finding, const UnmetNeed& u) {
  const WaitEdge& first = u.edges.front();
  finding.op = op_text(first.call->op());
  set_comm(finding, *u.group);
  set_seq(finding, *first.call);
  if (u.to > u.seq && u.in_flight) {
    finding.seq = SeqRange{u.seq, u.to};
    finding.seq_reason = "the record does not show which of its enqueued operations its device had finished";
  }
  finding.call_site = call_site_of(*first.waiter->process, *first.call);
  std::vector<MemberCall> member_calls;
  for (const WaitEdge& e : u.edges) {
    member_calls.push_back({e.waiter, e.call});
    if (finding.ends_by.empty()) finding.ends_by = ends_by_of(*e.call, e.waiter->comm);
    const bool failed = e.call->status == Call::Status::kFailed;
    finding.evidence.push_back(fmt::format("rank {} {}", e.waiter->world_rank,
                                           failed ? "left with an error: " + call_text(*e.call, *u.group)
                                                  : stands_text("is in", *e.call, e.held, *u.group)));
  }
  if (!is_message(first.call->op()))
    finding.evidence.push_back(fmt::format("rank {} entered {} calls on {} and {}", u.member->world_rank,
                                           u.member->last_entered(), u.group->name,
                                           end_text(u.member->process->view->end)));
  finding.sides = sides_of(member_calls, *u.group);
  prove(finding, u.edges, {end_of(*u.member->process, *u.group)});
  doubt_who_was_first(finding, u);
}

namespace {

// Whether the call asks something of other ranks. A rank gives up a communicator that it frees, revokes or
// aborts.
bool goes_on(const Call& c) {
  return (is_positional(c.op()) || is_message(c.op())) && c.op() != RF_OP_FINALIZE &&
         c.op() != RF_OP_COMM_FREE;
}

}  // namespace

bool is_handled(const JobView& job, const Process& ended) {
  bool went_on = false;
  for (int rank = 0; rank < job.timeline().world_size; ++rank) {
    const Process* p = job.rank(rank);
    if (!p || !p->ended() || !p->view->end.status_known) return false;
    if (p == &ended || p->view->end.by_signal) continue;
    if (p->view->end.value != 0) return false;
    went_on = went_on || std::any_of(p->calls.begin(), p->calls.end(), [&](const Call& c) {
                return certainly_before(*ended.view, ended.view->end.time, *p->view, c.entered) &&
                       c.succeeded() && goes_on(c);
              });
  }
  return went_on;
}

void describe_reason_of_end(Finding& finding, const Process& ended) {
  const ProcessEnd& end = ended.view->end;
  if (!end.oom_kill_in.empty())
    finding.evidence.push_back(
        fmt::format("the kernel counted a process killed for lack of memory in {} while rank {} ran; that it "
                    "was rank {} is inferred",
                    end.oom_kill_in, ended.rank(), ended.rank()));
  auto line = end.last_words.begin();
  if (is_exception(end.last_words)) {
    const std::string place = end.last_words[1].substr(std::strlen(kRaisedIn));
    const std::string exception = fmt::format("{}, {}", end.last_words[0], end.last_words[1]);
    line += 2;
    const bool is_fatal = end.last_words[0].starts_with(kFatalError);
    const bool by_exception = !end.by_signal && end.value == 1;  // another status is the program's own
    if (is_fatal && end.by_signal)
      finding.text += "; its last Python line is " + place;
    else if (!is_fatal && by_exception)
      finding.text += "; its last exception is " + exception;
    else
      finding.evidence.push_back(fmt::format("rank {} wrote: {}", ended.rank(), exception));
  }
  for (; line != end.last_words.end(); ++line)
    finding.evidence.push_back(fmt::format("rank {} wrote: {}", ended.rank(), *line));
}

void describe_place_of_end(Finding& finding, const JobView& job, const Process& ended) {
  const std::vector<const Call*> inside = ended.all_inside();
  const auto last = std::max_element(inside.begin(), inside.end(),
                                     [](const Call* a, const Call* b) { return a->entered < b->entered; });
  if (last == inside.end()) return;
  const Call& call = **last;
  finding.op = op_text(call.op());
  finding.call_site = call_site_of(ended, call);
  const CommGroup* group = job.group(ended, call.comm());
  finding.text += " inside " + (group ? short_call(call, *group) : finding.op);
  Side side{{ended.rank()}, finding.op, finding.op, finding.call_site};
  if (group) {
    set_comm(finding, *group);
    set_seq(finding, call);
    side.what = call_text(call, *group);
  }
  finding.sides = {side};
}

}  // namespace rankfault
