#include "harness/diagnose/waits/late_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/diagnose/messages/messages.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/waits/polls.h"

namespace rankfault {
namespace {

bool sleeps(const Process& p) {
  bool any = false;
  for (const LaneView& l : p.view->lanes) {
    if (l.kind != RF_LANE_THREAD || l.state.where == RF_ENDED || l.thread_state == 0) continue;
    if (l.thread_state != 'S' && l.thread_state != 'D') return false;
    any = true;
  }
  return any;
}

// A collective that its rank polls is a wait like any other. It counts only after a long time, because the
// rank may work between polls.
bool is_polled_for(const WaitEdge& e, Instant look, Duration long_after) {
  return e.group->traits().pending_holds_no_rank && !is_message(e.call->op()) &&
         lasted(e.call->entered, look) > long_after && polls(*e.waiter->process, look);
}

std::vector<WaitEdge> who_waits_for(const JobView& job, const Process& p, const DiagnoseOptions& options) {
  std::vector<WaitEdge> edges = waiting_for(job, p);
  // Pending calls that overlap with other work hold no rank.
  std::erase_if(edges, [&](const WaitEdge& e) {
    return !e.held && (e.group->traits().pending_holds_no_rank || is_message(e.call->op())) &&
           !is_polled_for(e, job.timeline().look, options.hung_after);
  });
  for (const WaitEdge& e : waits_by_name(job, p, options.hung_after)) edges.push_back(e);
  std::erase_if(edges, [&](const WaitEdge& e) { return end_of(p, *e.group).why != End::Why::kNotFinal; });
  return edges;
}

// Sorts the edges of the communicator with the longest wait first.
void longest_first(std::vector<WaitEdge>& edges) {
  const CommGroup* group =
      std::min_element(edges.begin(), edges.end(), [](const WaitEdge& a, const WaitEdge& b) {
        return waits_since(a) < waits_since(b);
      })->group;
  std::stable_partition(edges.begin(), edges.end(), [&](const WaitEdge& e) { return e.group == group; });
}

// Whether the process waits for something that no record shows.
bool waits_itself(const Process& p, Instant look) { return in_call_of_all(p) || polls(p, look); }

std::optional<LateRank> late_rank(const JobView& job, const Process& p, const DiagnoseOptions& options) {
  LateRank late{&p, who_waits_for(job, p, options), LateRank::Why::kSlow, {}, false};
  if (late.edges.empty()) return std::nullopt;
  longest_first(late.edges);
  const Instant look = job.timeline().look;
  Instant since = look;
  for (const WaitEdge& e : late.edges) since = std::min(since, waits_since(e));
  const Duration waited = lasted(since, look);
  if (waited <= options.slow_after) return std::nullopt;  // the usual result of a look
  const WaitEdge& first = late.edges.front();
  const Duration absent = std::min(waited, lasted(outside_since(p), look));
  const WaitThreshold slow = patience_with_absence(job, *first.group, first, options.slow_after);
  const WaitThreshold hung = patience_with_absence(job, *first.group, first, options.hung_after);
  late.patience = slow;
  if (absent > hung.limit && is_asleep(p, look, options)) {
    late.why = LateRank::Why::kAsleep;
    late.patience = hung;
  } else if (absent <= slow.limit) {
    if (waited <= hung.limit) return std::nullopt;
    late.why = LateRank::Why::kElsewhere;
    late.patience = hung;
  }
  late.hung = late.why == LateRank::Why::kAsleep && !in_call_of_all(p);
  if (waits_itself(p, look)) late.why = LateRank::Why::kWaits;
  return late;
}

// "runs outside any call", "sleeps in MPI_File_write".
std::string where_it_is(const LateRank& late) {
  const std::vector<const Call*> inside = late.process->all_inside();
  const bool sleeps = late.why == LateRank::Why::kAsleep;
  if (!inside.empty())
    return fmt::format("{} in {}", sleeps ? "sleeps" : "is", name_of_call(*inside.front()));
  switch (late.why) {
    case LateRank::Why::kWaits:
      return "polls without success";
    case LateRank::Why::kElsewhere:
      return "makes other calls";
    default:
      return sleeps ? "sleeps outside communication" : "runs outside any call";
  }
}

std::vector<LateRank> find_late(const JobView& job, const DiagnoseOptions& options) {
  std::vector<LateRank> found;
  for (const auto& p : job.processes()) {
    if (p->ended() || p->view->stopped || p->has_streams() || !is_outside(*p)) continue;
    if (std::optional<LateRank> late = late_rank(job, *p, options)) found.push_back(std::move(*late));
  }
  return found;
}

}  // namespace

// A rank that sleeps between bursts of work, or whose helpers work for it, uses CPU time.
bool is_asleep(const Process& p, Instant look, const DiagnoseOptions& options) {
  const bool long_idle = is_known(p.view->busy_at) && lasted(p.view->busy_at, look) > options.hung_after;
  const bool has_made_calls = std::any_of(p.view->lanes.begin(), p.view->lanes.end(), [](const LaneView& l) {
    return l.kind == RF_LANE_THREAD && l.state.where != RF_ENDED;
  });
  if (!has_made_calls) return long_idle;  // the record has none of its threads
  return sleeps(p) && (long_idle || !is_known(p.view->busy_at));
}

Finding late_finding(const JobView& job, const LateRank& late, const char* kind) {
  Finding f;
  f.kind = kind;
  if (late.why != LateRank::Why::kWaits) f.ranks = {late.process->rank()};
  describe_waiters(f, job, late.edges);
  const WaitEdge& first = late.edges.front();
  set_time(f, *first.waiter->process, first.call->entered);
  f.text = fmt::format("rank {} {} while others wait for it in {}, {}", late.process->rank(),
                       where_it_is(late), short_call(*first.call, *first.group), late.patience.text());
  return f;
}

struct JobView::LateRanks {
  DiagnoseOptions options;
  std::vector<LateRank> all;
};

const std::vector<LateRank>& JobView::late_ranks(const DiagnoseOptions& options) const {
  if (!late_ || !(late_->options == options))
    late_ = std::make_shared<const LateRanks>(LateRanks{options, find_late(*this, options)});
  return late_->all;
}

}  // namespace rankfault
