#include "harness/diagnose/waits/late_to_join.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/model/numbered_groups.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/waits/late_ranks.h"

namespace rankfault {
namespace {

// Whether the rank, as far as the record shows, will not come: it has ended, is stopped or asleep, or has
// long been in other calls. A rank that runs, or makes one call after another, may come.
bool stays_away(const Process& p, Instant now, const WaitThreshold& patience,
                const DiagnoseOptions& options) {
  if (p.ended() || p.view->stopped) return true;
  const std::vector<const Call*> inside = p.all_inside();
  if (inside.empty()) return is_asleep(p, now, options);
  return std::all_of(inside.begin(), inside.end(),
                     [&](const Call* c) { return lasted(c->entered, now) > patience.limit; });
}

}  // namespace

std::optional<LateToJoin> late_to_join(const JobView& job, const Meeting& meeting,
                                       const DiagnoseOptions& options) {
  const Instant now = job.timeline().look;
  const Duration waited = lasted(meeting.since, now);
  if (waited <= options.slow_after) return std::nullopt;
  std::vector<const Process*> ranks = elsewhere(job, meeting);
  if (ranks.empty()) return std::nullopt;
  const WaitThreshold hung = patience_with_joining(job, options.hung_after);
  const auto stays = [&](const Process* p) { return stays_away(*p, now, hung, options); };
  if (waited > options.hung_after && waited > hung.limit && std::all_of(ranks.begin(), ranks.end(), stays))
    return LateToJoin{std::move(ranks), hung, true};
  const WaitThreshold slow = patience_with_joining(job, options.slow_after);
  if (waited <= slow.limit) return std::nullopt;
  return LateToJoin{std::move(ranks), slow, false};
}

std::string what_it_does(const JobView& job, const Process& p, const DiagnoseOptions& options) {
  if (p.ended()) return fmt::format("rank {} {}", p.rank(), end_text(p.view->end));
  if (p.view->stopped) return fmt::format("rank {} is stopped", p.rank());
  const std::vector<const Call*> inside = p.all_inside();
  if (inside.empty())
    return fmt::format("rank {} {}", p.rank(),
                       is_asleep(p, job.timeline().look, options) ? "sleeps outside communication"
                                                                  : "runs outside any call");
  if (is_numbered_creation(*inside.front()))
    return fmt::format("rank {} is inside new_group {}", p.rank(), inside.front()->tag());
  const CommGroup* group = job.group(p, inside.front()->comm());
  return fmt::format("rank {} is inside {}", p.rank(),
                     group ? short_call(*inside.front(), *group) : op_text(inside.front()->op()));
}

void describe_late_to_join(Finding& f, const JobView& job, const Meeting& meeting, const LateToJoin& late,
                           const DiagnoseOptions& options) {
  std::vector<int> ranks;
  for (const Process* p : late.ranks) {
    ranks.push_back(p->rank());
    f.evidence.push_back(what_it_does(job, *p, options));
  }
  f.attempt = job.attempt();
  f.op = op_text(RF_OP_COMM_CREATE);
  f.at = meeting.since;
  const Joining& first = meeting.waiting.front();
  f.sides = {{meeting.ranks(), f.op, meeting.numbered ? fmt::format("new_group {}", meeting.id) : f.op,
              call_site_of(*first.process, *first.call)}};
  if (!late.all_are_missing(meeting)) return;
  f.ranks = sorted_unique(std::move(ranks));
  f.sides.push_back({f.ranks, "", "no call", ""});
}

}  // namespace rankfault
