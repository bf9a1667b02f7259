// order_deadlock: live ranks wait for each other, and none can continue: two communicators entered in
// different order, receives that all precede their sends, a message awaited across a collective.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/diagnose/messages/messages.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/proof/proof.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/sequence/pairing.h"
#include "harness/diagnose/waits/before_timeouts.h"
#include "harness/diagnose/waits/deadlock.h"
#include "harness/diagnose/waits/stream_order.h"

namespace rankfault {
namespace {

using Camps = std::map<const CommGroup*, std::vector<const Process*>>;  // waiters by communicator

// Returns all ranks in the smaller of two camps, counting only ranks that are members of both communicators;
// no rank if the camps are equal. A rank that waits in one and is not a member of the other has no order of
// the two. A message is between two ranks: the sizes of the camps do not show whether the waiting rank or the
// missing one is wrong.
std::vector<int> smaller_camp(const Camps& camps) {
  std::vector<std::vector<int>> sides;
  for (const auto& [group, processes] : camps) {
    std::vector<int> ranks;
    for (const Process* p : processes)
      if (std::all_of(camps.begin(), camps.end(), [&](const auto& camp) { return camp.first->of(*p); }))
        ranks.push_back(p->rank());
    sides.push_back(sorted_unique(std::move(ranks)));
  }
  if (sides.size() != 2 || sides[0].size() == sides[1].size()) return {};
  return sides[0].size() < sides[1].size() ? sides[0] : sides[1];
}

std::vector<int> smaller_side(const Knot& knot) {
  const auto by_message = [](const WaitEdge& e) { return is_message(e.call->op()); };
  if (std::any_of(knot.edges.begin(), knot.edges.end(), by_message)) return {};
  Camps camps;
  for (const auto& [group, waiter] : knot.waiters) camps[group].push_back(waiter->process);
  std::erase_if(camps, [&](const auto& camp) {
    return std::none_of(knot.edges.begin(), knot.edges.end(),
                        [&](const WaitEdge& e) { return e.group == camp.first; });
  });
  return smaller_camp(camps);
}

// Within a knot a rank waits. A rank that is over (another possible partner) has its own end.
End end_in(const Knot& knot, const WaitEdge& e) {
  for (const WaitEdge& other : knot.edges)
    if (other.waiter->process == e.missing->process) return {e.missing->process, e.group, End::Why::kInCycle};
  return end_of(*e.missing->process, *e.group);
}

Finding tell(const JobView& job, const Knot& knot) {
  Finding f;
  f.kind = "order_deadlock";
  f.attempt = job.attempt();
  f.ranks = smaller_side(knot);
  const WaitEdge& first = knot.edges.front();
  f.op = op_text(first.call->op());
  set_comm(f, *first.group);
  set_seq(f, *first.call);
  std::vector<End> ends;
  for (const WaitEdge& e : knot.edges) {
    f.at = std::max(f.at, e.call->entered);
    const bool is_listed = !f.sides.empty() &&
                           f.sides.back().ranks == std::vector<int>{e.waiter->world_rank} &&
                           f.sides.back().what == call_text(*e.call, *e.group);
    if (!is_listed)  // a call that waits for one of several has an edge to each
      f.sides.push_back({{e.waiter->world_rank},
                         op_text(e.call->op()),
                         call_text(*e.call, *e.group),
                         call_site_of(*e.waiter->process, *e.call)});
    const std::string step = fmt::format("{} waits in {} for {}", member_text(*e.group, *e.waiter),
                                         short_call(*e.call, *e.group), member_text(*e.group, *e.missing));
    f.evidence.push_back(step);
    f.text += (f.text.empty() ? "" : ", ") + step;
    if (f.ends_by.empty()) f.ends_by = ends_by_of(*e.call, e.waiter->comm);
    ends.push_back(end_in(knot, e));
  }
  prove(f, knot.edges, ends);
  return f;
}

// A process that is several members of an NCCL communicator waits on its device for a collective that it has
// not put there. (missing_call does not cover its messages.)
bool waits_for_own_member(const Knot& knot) {
  const WaitEdge& first = knot.edges.front();
  return knot.edges.size() == 1 && first.waiter->process == first.missing->process &&
         first.waiter != first.missing && !is_message(first.call->op()) && first.held &&
         first.held->op() == RF_OP_STREAM_WAIT;
}

std::string step_text(const StreamKnot::Step& s) {
  if (s.part)
    return fmt::format("rank {} put {} before {} on one stream", s.at->world_rank,
                       short_call(*s.before, *s.before_group), short_call(*s.part, *s.group));
  return fmt::format("rank {} waits for {} and has not made its part of {}", s.at->world_rank,
                     short_call(*s.before, *s.before_group), short_call(*s.call, *s.group));
}

Side side_of(const StreamKnot& knot, const StreamKnot::Step& s) {
  Side side{{},
            op_text(s.before->op()),
            call_text(*s.before, *s.before_group, false),
            call_site_of(*s.at->process, *s.before)};
  for (const auto& [group, member] : knot.camps)
    if (group == s.before_group) side.ranks.push_back(member->world_rank);
  if (side.ranks.empty()) side.ranks.push_back(s.at->world_rank);
  side.ranks = sorted_unique(std::move(side.ranks));
  return side;
}

// A deadlock by the order on streams. It is inferred: a limit or an abort may end it, and an unseen thread
// may take part in it.
Finding tell(const JobView& job, const StreamKnot& knot) {
  Finding f;
  f.kind = "order_deadlock";
  f.attempt = job.attempt();
  Camps camps;
  for (const auto& [group, member] : knot.camps) camps[group].push_back(member->process);
  f.ranks = smaller_camp(camps);
  const StreamKnot::Step* first = nullptr;  // the first step with the order of the majority
  for (const StreamKnot::Step& step : knot.steps) {
    f.at = std::max(f.at, step.before->entered);
    const bool is_odd = f.ranks == std::vector<int>{step.at->world_rank};
    if (!is_odd && (!first || step.before->entered < first->before->entered)) first = &step;
    f.evidence.push_back(step_text(step));
    f.text += (f.text.empty() ? "" : ", ") + f.evidence.back();
    f.sides.push_back(side_of(knot, step));
  }
  if (!first) first = &knot.steps.front();
  f.op = op_text(first->before->op());
  set_comm(f, *first->before_group);
  set_seq(f, *first->before);
  f.evidence.emplace_back("a stream runs its operations in the order of the calls");
  return f;
}

std::vector<Finding> by_streams(const JobView& job, const DiagnoseOptions& options) {
  const StreamKnot& knot = job.stream_knot(options);
  if (knot.steps.empty() || left_out(knot)) return {};  // missing_call reports it
  return {tell(job, knot)};
}

// A deadlock that the ranks' own limits ended is still a deadlock; its consequences are reported under it.
std::vector<Finding> look(const JobView& now, const DiagnoseOptions& options) {
  const JobView& job = now.before_timeouts();
  const Knot knot = find_knot(job, options);
  if (knot.edges.empty()) return by_streams(now, options);
  if (waits_for_own_member(knot)) return {};  // missing_call reports it
  Finding f = tell(job, knot);
  const bool guessed =
      &job != &now && std::any_of(knot.edges.begin(), knot.edges.end(),
                                  [&](const WaitEdge& e) { return was_nonblocking(now, e); });
  if (guessed) {
    only_infer(f);
    f.evidence.emplace_back("the rule assumes that a rank waited for its incomplete nonblocking call");
  }
  if (std::string why = &job != &now ? why_not_together(now, knot.edges) : ""; !why.empty()) {
    f.assumes.push_back({"waited_together", false, std::move(why)});
    only_infer(f);
  }
  return {std::move(f)};
}

const Registration<Rule> kRule{{
    .name = "order_deadlock",
    .summary = "ranks wait for each other in a cycle",
    .look = look,
    .proof = "The operation itself needs every wait in the cycle, and no other thread of these "
             "processes can make the awaited calls.",
    .example = "rank 0 waits in recv from rank 1, rank 1 waits in recv from rank 0",
    .next = "Make all ranks use communicators and messages in one order, or use nonblocking calls and "
            "MPI_Sendrecv.",
    .traits = {.precedence = 50, .says_it_hangs = true},
}};

}  // namespace
}  // namespace rankfault
