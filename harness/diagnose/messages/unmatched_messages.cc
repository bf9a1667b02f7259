#include "harness/diagnose/messages/unmatched_messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/messages/messages.h"
#include "harness/diagnose/model/words.h"

namespace rankfault {
namespace {

bool is_over(const WaitEdge& e) {
  return e.missing->process && end_of(*e.missing->process, *e.group).why != End::Why::kNotFinal;
}

bool never_comes(const WaitEdge& e) {
  // While it waits it does not send to itself either.
  return e.entered == Known::kNo && (is_over(e) || (e.missing == e.waiter && e.held));
}

using Waiting = std::vector<std::pair<const Call*, std::vector<WaitEdge>>>;

bool is_unserved(const std::vector<WaitEdge>& edges) {
  return std::all_of(edges.begin(), edges.end(), never_comes) &&
         std::any_of(edges.begin(), edges.end(), is_over);
}

// Whether the rank cannot continue without the message. A wait for one of several continues with any other.
bool holds_its_rank(const Waiting& all, const WaitEdge& e) {
  if (!e.held) return !e.group->traits().pending_holds_no_rank;
  if (e.held->op() != RF_OP_WAIT_ANY) return true;
  const auto named = e.waiter->process->waits_for.find(e.held->lane);
  const size_t known = named == e.waiter->process->waits_for.end() ? 0 : named->second.size();
  const auto unserved = std::count_if(all.begin(), all.end(), [&](const auto& other) {
    return other.second.front().held == e.held && is_unserved(other.second);
  });
  return known == e.held->pending_count() && static_cast<size_t>(unserved) == known;
}

}  // namespace

const std::vector<UnmatchedMessage>& JobView::unsent() const {
  if (unsent_) return *unsent_;
  Waiting by_call;
  for (const WaitEdge& e : waits().messages) {
    if (by_call.empty() || by_call.back().first != e.call) by_call.push_back({e.call, {}});
    by_call.back().second.push_back(e);
  }
  std::vector<UnmatchedMessage> found;
  for (const auto& [call, edges] : by_call) {
    if (!is_unserved(edges) || !holds_its_rank(by_call, edges.front())) continue;
    UnmatchedMessage u;
    for (WaitEdge e : edges) {
      e.is_need = e.is_need || e.one_of;
      u.ends.push_back(e.missing == e.waiter ? End{e.missing->process, e.group, End::Why::kInCycle}
                                             : end_of(*e.missing->process, *e.group));
      u.edges.push_back(e);
    }
    if (u.edges.size() == 1) {
      const WaitEdge& only = u.edges.front();
      u.ended_badly = only.missing->process->ended_badly();
      u.other_tag = unreceived_tag(*only.call, *only.waiter, *only.missing);
    }
    found.push_back(std::move(u));
  }
  unsent_ = std::make_shared<const std::vector<UnmatchedMessage>>(std::move(found));
  return *unsent_;
}

Finding describe_unmatched(const JobView& job, const UnmatchedMessage& u) {
  const WaitEdge& first = u.edges.front();
  Finding f;
  f.kind = "missing_call";
  f.attempt = job.attempt();
  set_time(f, *first.waiter->process, first.call->entered);
  f.op = first.call->op() == RF_OP_SEND || first.call->op() == RF_OP_SSEND ? "recv" : "send";
  f.call_site = call_site_of(*first.waiter->process, *first.call);
  f.ends_by = ends_by_of(*first.call, first.waiter->comm);
  set_comm(f, *first.group);
  std::vector<MemberCall> member_calls{{first.waiter, first.call}};
  std::vector<int> over;
  for (const WaitEdge& e : u.edges) {
    if (e.missing == e.waiter) continue;
    member_calls.push_back({e.missing, nullptr});
    over.push_back(e.missing->world_rank);
  }
  f.sides = sides_of(member_calls, *first.group);
  f.text =
      fmt::format("rank {} waits in {}, but {} made no {} for it and makes no more calls",
                  first.waiter->world_rank, call_text(*first.call, *first.group), ranks_text(over), f.op);
  f.evidence = {f.text};
  if (u.other_tag)
    f.evidence.push_back(
        fmt::format("no rank received a message of {} with tag {}", ranks_text(over), *u.other_tag));
  prove(f, u.edges, u.ends);
  return f;
}

}  // namespace rankfault
