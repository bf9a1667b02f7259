// unsent: see unsent.h.
#include "harness/diagnose/unsent.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/messages.h"
#include "harness/diagnose/words.h"

namespace rankfault {
namespace {

bool is_over(const Edge& e) {
  return e.missing->process && end_of(*e.missing->process, *e.group).why != End::Why::kNotFinal;
}

bool ended_badly(const Process& p) {
  const ProcessEnd& end = p.view->end;
  return p.ended() && (!end.status_known || end.by_signal || end.value != 0);
}

}  // namespace

std::vector<Unsent> unsent_messages(const JobView& job) {
  std::vector<std::pair<const Call*, std::vector<Edge>>> by_call;
  for (const Edge& e : waits_now(job)) {
    // A request nobody waits for may be cancelled yet; one of several may be passed over for another.
    const bool held = e.held && e.held->op != RF_OP_WAIT_ANY;
    if (!is_message(e.call->op) || !held) continue;
    if (by_call.empty() || by_call.back().first != e.call) by_call.push_back({e.call, {}});
    by_call.back().second.push_back(e);
  }
  std::vector<Unsent> found;
  for (auto& [call, edges] : by_call) {
    // While it waits itself it does not send to itself either.
    const auto never = [](const Edge& e) {
      return e.entered == Known::kNo && (is_over(e) || e.missing == e.waiter);
    };
    if (!std::all_of(edges.begin(), edges.end(), never) || std::none_of(edges.begin(), edges.end(), is_over))
      continue;
    Unsent u;
    for (Edge& e : edges) {
      e.is_need = e.is_need || e.one_of;
      u.ends.push_back(e.missing == e.waiter ? End{e.missing->process, e.group, End::Why::kInCycle}
                                             : end_of(*e.missing->process, *e.group));
      u.edges.push_back(e);
    }
    if (u.edges.size() == 1) {
      const Edge& only = u.edges.front();
      u.ended_badly = ended_badly(*only.missing->process);
      u.other_tag = unreceived_tag(*only.call, *only.waiter, *only.missing);
    }
    found.push_back(std::move(u));
  }
  return found;
}

Finding tell_unsent(const JobView& job, const Unsent& u) {
  const Edge& first = u.edges.front();
  Finding f;
  f.kind = "missing_call";
  f.attempt = job.attempt();
  f.at = first.call->entered;
  f.op = first.call->op == RF_OP_SEND || first.call->op == RF_OP_SSEND ? "recv" : "send";
  f.call_site = call_site_of(*first.waiter->process, *first.call);
  f.ends_by = ends_by_of(*first.call, first.waiter->comm);
  set_comm(f, *first.group);
  std::vector<Seat> seats{{first.waiter, first.call}};
  std::vector<int> over;
  for (const Edge& e : u.edges) {
    if (e.missing == e.waiter) continue;
    seats.push_back({e.missing, nullptr});
    over.push_back(e.missing->world_rank);
  }
  f.sides = sides_of(seats, *first.group);
  f.text =
      fmt::format("rank {} waits in {}, and {} made no {} for it and will make no more calls",
                  first.waiter->world_rank, call_text(*first.call, *first.group), ranks_text(over), f.op);
  f.evidence = {f.text};
  if (u.other_tag)
    f.evidence.push_back(
        fmt::format("a message of {} with tag {} was never received", ranks_text(over), *u.other_tag));
  prove(f, u.edges, u.ends);
  return f;
}

}  // namespace rankfault
