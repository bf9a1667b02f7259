// late_rank: ranks gave up a collective call while others had not entered it. This is a recorded fact at that
// instant (claim had_not_entered), so it holds even if the late ranks later go on, end or are continued. If
// no limit is recorded for the call, the reason for its end is a guess, and the finding is inferred.
#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/model/words.h"
#include "harness/diagnose/proof/proof.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/waits/gave_up.h"

namespace rankfault {
namespace {

// Times of several nodes are compared, too, where rankfault knows their clocks.
Assumption one_clock(const GivenUp& g) {
  const ProcessView& first = *g.by.front().member->process->view;
  if (!g.unordered.empty()) return {"one_clock", false, g.unordered};
  bool one = true;
  for (const Member* m : g.late) {
    const ProcessView& late = *m->process->view;
    one = one && late.id.host == first.id.host && late.node == first.node;
    if (late.id.host != first.id.host && late.node == first.node)
      return {"one_clock", false, "the times come from the clocks of several machines"};
  }
  return {"one_clock", true,
          one ? "all times come from the clock of one machine"
              : "the clocks of the nodes differ by less than these times do"};
}

Assumption left_by_its_limit(const GivenUp& g) {
  const GaveUp& first = g.by.front();
  const std::string who = fmt::format("rank {}", first.member->world_rank);
  if (first.by_limit())
    return {"left_by_its_limit", true, fmt::format("{} had a limit of {}", who, to_text(first.limit))};
  return {"left_by_its_limit", false, fmt::format("the record has no limit for the call of {}", who)};
}

// Until the rank ends it may continue, and nothing was lost.
Assumption did_not_recover(const GivenUp& g) {
  const Process& p = *g.by.front().member->process;
  return {"did_not_recover", p.ended(),
          p.ended() ? fmt::format("rank {} {} after it", p.rank(), end_text(p.view->end))
                    : fmt::format("rank {} is alive", p.rank())};
}

std::vector<WaitEdge> edges_of(const GivenUp& g) {
  std::vector<WaitEdge> edges;
  const GaveUp& first = g.by.front();
  for (const Member* m : g.late)
    edges.push_back({g.group, first.member, first.call, m, true, Known::kNo, first.call});
  return edges;
}

void prove_late(Finding& f, const GivenUp& g) {
  const std::vector<WaitEdge> edges = edges_of(g);
  f.assumes = {full_view(edges), one_look(edges, {}),  same_calls_up_to(*g.group, g.seq),
               one_clock(g),     left_by_its_limit(g), did_not_recover(g)};
  const bool all =
      std::all_of(f.assumes.begin(), f.assumes.end(), [](const Assumption& a) { return a.holds; });
  f.confidence = all ? Confidence::kProven : Confidence::kInferred;
  f.claim = all ? Claim::kHadNotEntered : Claim::kNone;
  if (all) claim(f, {{g.by.front().member, g.by.front().call}});
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  const std::optional<GivenUp> g = first_given_up(job);
  if (!g) return {};
  const GaveUp& first = g->by.front();
  Finding f;
  f.kind = "late_rank";
  f.attempt = job.attempt();
  set_time(f, *first.member->process, g->at);
  f.op = op_text(first.call->op());
  set_comm(f, *g->group);
  set_seq(f, *first.call);
  f.call_site = call_site_of(*first.member->process, *first.call);
  std::vector<MemberCall> member_calls;
  std::vector<int> gave_up;
  for (const GaveUp& one : g->by) {
    member_calls.push_back({one.member, one.call});
    gave_up.push_back(one.member->world_rank);
    f.evidence.push_back(
        fmt::format("rank {} gave up {} after {}{}", one.member->world_rank, call_text(*one.call, *g->group),
                    to_text(lasted(one.call->entered, one.at)),
                    one.by_limit() ? fmt::format(", by its limit of {}", to_text(one.limit)) : ""));
  }
  std::string did;
  for (const Member* m : g->late) {
    member_calls.push_back({m, nullptr});
    f.ranks.push_back(m->world_rank);
    f.evidence.push_back(meanwhile(job, *g, *m));
    did += "; " + f.evidence.back();
  }
  for (const Member* m : g->inside)
    f.evidence.push_back(
        fmt::format("rank {} had not entered it either, and was inside another call", m->world_rank));
  f.ranks = sorted_unique(f.ranks);
  f.sides = sides_of(member_calls, *g->group);
  f.text = fmt::format("{} gave up {} while {} had not entered it{}", ranks_text(sorted_unique(gave_up)),
                       short_call(*first.call, *g->group), ranks_text(f.ranks), did);
  prove_late(f, *g);
  return {f};
}

const Registration<Rule> kRule{{
    .name = "late_rank",
    .summary = "ranks gave up a call that others had not entered",
    .look = look,
    .proof =
        "A rank left the call by its own limit, and at that instant the named rank had not entered it. "
        "All members made the same calls before. All times come from one clock, and the rank that gave up "
        "has ended since.",
    .example = "ranks 0 2 3 gave up all_reduce 40 on world; rank 1 had not entered it: it was stopped",
    .next = "The named rank is the cause, and those that gave up are the victims. See what it did meanwhile: "
            "stopped, in a file operation, outside any call, dead.",
    .traits = {.precedence = 85},
}};

}  // namespace
}  // namespace rankfault
