#include "harness/diagnose/waits/before_timeouts.h"

#include <algorithm>
#include <map>

#include "harness/diagnose/model/needs.h"
#include "harness/diagnose/waits/deadlock.h"
#include "harness/observe/state_of_record.h"

namespace rankfault {
namespace {

// A rank in the finalisation of its library has not given up: it is done and waits for no rank's call.
bool communicates(const Call& c) {
  return !rf_is_inner(c.op()) && c.op() != RF_OP_COMM_FREE && c.op() != RF_OP_COMM_ABORT &&
         c.op() != RF_OP_FINALIZE;
}

bool aborts(const Process& p) {
  return std::any_of(p.calls.begin(), p.calls.end(),
                     [](const Call& c) { return c.op() == RF_OP_COMM_ABORT; });
}

// Waits are not kept whole: no record keeps their requests.
bool is_kept_whole(const Call& c) { return !(c.flags() & RF_CALL_EXECUTION) && !rf_is_wait(c.op()); }

// As far as the record shows, the rank polled it until some rank aborted.
bool was_polled(const Call& c, bool somebody_aborted) { return somebody_aborted && is_collective(c.op()); }

void put_back(ProcessView& p, const Call& call) {
  p.history = p.events().value_or(std::vector<Event>{});
  p.source = nullptr;  // the view no longer shows what was recorded
  const auto is_of_call = [&](const Event& e) { return e.lane == call.lane && e.record.call == call.number; };
  const auto entry = std::find_if(p.history.begin(), p.history.end(), [&](const Event& e) {
    return is_of_call(e) && e.record.phase == RF_PHASE_ENTER;
  });
  if (entry == p.history.end()) return;
  // A nonblocking call that its rank polled until it ended held the rank like a blocking one.
  entry->record.flags &= static_cast<uint16_t>(~RF_CALL_NONBLOCKING);
  if (entry->record.seq == 0) entry->record.seq = call.seq;  // from the record that is removed
  const rf_record entered = entry->record;
  std::erase_if(p.history, [&](const Event& e) {
    return is_of_call(e) && (e.record.phase == RF_PHASE_EXIT || e.record.phase == RF_PHASE_ERROR ||
                             e.record.phase == RF_PHASE_ENQUEUE);
  });
  for (LaneView& lane : p.lanes)
    if (lane.index == call.lane) lane.state = state_by_record_alone(entered);
  for (CommView& comm : p.comms) comm.destroyed = false;  // most are destroyed during the end
  p.stage = RF_STAGE_MEMBER;
  p.end = {};
}

struct LastWait {
  const Process* process;
  const Call* call;
  Instant until;
};

Instant gave_up_at(const Process& p, const Call& call) {
  return call.status == Call::Status::kFailed ? call.left : p.view->end.time;
}

std::vector<LastWait> all_given_up(const JobView& job) {
  std::vector<LastWait> all;
  const bool aborted =
      std::any_of(job.processes().begin(), job.processes().end(), [](const auto& p) { return aborts(*p); });
  for (const auto& p : job.processes()) {
    const Call* call = p->ended() ? gave_up_in(*p) : nullptr;
    if (!call || !is_kept_whole(*call)) continue;
    if (call->flags() & RF_CALL_NONBLOCKING && !was_polled(*call, aborted)) continue;
    const Instant until = gave_up_at(*p, *call);
    if (!may_have_been_refused(*call, until)) all.push_back({p.get(), call, until});
  }
  return all;
}

// Ranks that waited for each other were inside at one instant. Keeps the instant at which most of them were
// inside.
void keep_those_of_one_instant(std::vector<LastWait>& all) {
  std::vector<std::pair<Instant, int>> changes;  // at equal times, leaving comes first
  for (const LastWait& g : all) {
    changes.emplace_back(g.call->entered, +1);
    changes.emplace_back(g.until, -1);
  }
  std::sort(changes.begin(), changes.end());
  int inside = 0, most = 0;
  Instant instant;
  for (const auto& [time, change] : changes) {
    inside += change;
    if (inside > most) {
      most = inside;
      instant = time;
    }
  }
  std::erase_if(all, [&](const LastWait& g) { return g.call->entered > instant || g.until <= instant; });
}

}  // namespace

bool may_have_been_refused(const Call& c, Instant until) {
  constexpr Duration kLongest = 1ms;
  return until <= c.entered + kLongest;
}

const Call* gave_up_in(const Process& p) {
  if (p.has_streams()) return nullptr;
  const Call* last = nullptr;
  for (const Call& c : p.calls)
    if (communicates(c) && (!last || c.entered > last->entered)) last = &c;
  return last && !last->succeeded() ? last : nullptr;
}

std::optional<Timeline> before_ranks_gave_up(const JobView& job) {
  std::vector<LastWait> all = all_given_up(job);
  keep_those_of_one_instant(all);
  if (all.empty()) return std::nullopt;
  Timeline before = job.timeline();
  for (const LastWait& g : all)
    put_back(before.processes[static_cast<size_t>(g.process->view - job.timeline().processes.data())],
             *g.call);
  before.job_over = false;
  return before;
}

bool was_nonblocking(const JobView& as_recorded, const WaitEdge& e) {
  const Process* p = as_recorded.rank(e.waiter->process->rank());
  const Call* call = p ? p->find(e.call->lane, e.call->number) : nullptr;
  return call && call->flags() & RF_CALL_NONBLOCKING;
}

namespace {

// Of the ranks of one node: who entered its call last, and who left it first.
struct Together {
  std::optional<LastWait> entered, left;

  void add(const LastWait& w) {
    if (!entered || w.call->entered > entered->call->entered) entered = w;
    if (!left || w.until < left->until) left = w;
  }
};

}  // namespace

std::string why_not_together(const JobView& as_recorded, const std::vector<WaitEdge>& edges) {
  std::map<std::string, Together> nodes;
  for (const WaitEdge& e : edges) {
    const Process* p = as_recorded.rank(e.waiter->process->rank());
    const Call* call = p ? p->find(e.call->lane, e.call->number) : nullptr;
    if (call) nodes[p->view->node].add({p, call, p->ended() ? gave_up_at(*p, *call) : kEndOfTime});
  }
  std::string why;
  for (const auto& [one, a] : nodes)
    for (const auto& [other, b] : nodes)
      if (why.empty() && one != other)
        why = why_unordered(*a.entered->process->view, a.entered->call->entered, *b.left->process->view,
                            b.left->until);
  return why;
}

const JobView& JobView::before_timeouts() const {
  if (!hung_) {
    std::optional<Timeline> before = before_ranks_gave_up(*this);
    auto rewound = std::make_shared<JobBeforeTimeouts>(before ? std::move(*before) : Timeline());
    const DiagnoseOptions by_need_alone{kLongestDuration, kLongestDuration};
    rewound->is_deadlock = before && !find_knot(rewound->job, by_need_alone).edges.empty();
    hung_ = std::move(rewound);
  }
  return hung_->is_deadlock ? hung_->job : *this;
}

}  // namespace rankfault
