#include "tests/falsify/cut.h"

#include <algorithm>
#include <map>

#include "harness/diagnose/model/view.h"
#include "harness/observe/state_of_record.h"

namespace rankfault::testing {
namespace {

void leave(rf_state& s, const rf_record& r) {
  if (s.where != RF_INSIDE || s.call != r.call || s.op != r.op) return;  // pending work failed: no op
  s.where = RF_OUTSIDE;
  s.since_ns = r.time_ns;
  s.last_result = r.phase == RF_PHASE_ENQUEUE ? 0 : r.tag_or_result;
}

struct Redo {
  explicit Redo(ProcessView& process) : p(process) {
    for (const Event& e : p.history)
      if (CommView* c = placed_on(e.record)) c->calls -= word_of(e.record);  // what stays: lost calls
    p.history.clear();
    for (LaneView& l : p.lanes) {
      l.state = {};
      l.head = 0;
      l.torn.clear();
    }
    for (CommView& c : p.comms) {
      c.entered = c.completed = c.issuers = c.sends = c.receives = 0;
      c.error = 0;
      c.destroyed = false;
    }
    p.stage = RF_STAGE_MEMBER;
    p.end = {};
  }

  LaneView* lane(uint32_t index) {
    for (LaneView& l : p.lanes)
      if (l.index == index) return &l;
    return nullptr;
  }
  CommView* comm(uint32_t index) {
    for (CommView& c : p.comms)
      if (c.index == index) return &c;
    return nullptr;
  }

  // The communicator on which the call took a place when it was entered; null: none.
  CommView* placed_on(const rf_record& r) {
    const bool takes = r.phase == RF_PHASE_ENTER && is_positional(r.op) && !(r.flags & RF_CALL_EXECUTION) &&
                       r.library != RF_LIB_C10D;
    return takes && r.seq != 0 ? comm(r.comm) : nullptr;
  }
  static uint64_t word_of(const rf_record& r) { return rf_call_word(r.seq, r.op, r.peer, r.flags); }

  void take(const Event& event) {
    const rf_record& r = event.record;
    p.history.push_back(event);
    if (CommView* on = placed_on(r)) on->calls += word_of(r);
    LaneView* l = lane(event.lane);
    if (!l) return;
    l->head = std::max(l->head, event.index + 1);
    CommView* c = comm(r.comm);
    if (r.phase == RF_PHASE_ENTER) {
      l->state = state_by_record_alone(r);
      if (c && event.lane < RF_MAX_LANES && !(r.flags & RF_CALL_EXECUTION))
        c->issuers |= uint64_t{1} << event.lane;
    }
    if (r.phase == RF_PHASE_EXIT || r.phase == RF_PHASE_ENQUEUE || r.phase == RF_PHASE_ERROR)
      leave(l->state, r);
    if (r.phase == RF_PHASE_EXIT && r.op == RF_OP_FINALIZE) p.stage = RF_STAGE_FINALIZED;
    if (c && is_positional(r.op) && !(r.flags & RF_CALL_EXECUTION)) c->entered = std::max(c->entered, r.seq);
  }

  ProcessView& p;
};

}  // namespace

Timeline cut(const Timeline& whole, const std::vector<size_t>& kept) {
  Timeline t = whole;
  t.job_over = false;
  Instant look = t.begin;
  for (size_t i = 0; i < t.processes.size(); ++i) {
    const ProcessView& from = whole.processes[i];
    if (kept[i] >= from.history.size()) {  // at its end
      look = std::max(look, from.end.kind == EndKind::kEnded ? from.end.time
                            : from.history.empty()           ? Instant{}
                                                   : instant_of(from.history.back().record.time_ns));
      continue;
    }
    Redo redo(t.processes[i]);
    for (size_t k = 0; k < kept[i]; ++k) redo.take(from.history[k]);
    if (kept[i] > 0) look = std::max(look, instant_of(from.history[kept[i] - 1].record.time_ns));
  }
  t.look = look + 1us;
  return t;
}

std::vector<size_t> random_points(const Timeline& whole, std::mt19937_64& random) {
  const double where = std::uniform_real_distribution<>(0, 1.2)(random);
  std::vector<size_t> kept;
  for (const ProcessView& p : whole.processes) {
    const size_t n = p.history.size();
    const double jitter = random() % 3 ? 0.03 : 0.5;
    const double at = where + std::uniform_real_distribution<>(-jitter, jitter)(random);
    kept.push_back(
        random() % 5 == 0 ? n : static_cast<size_t>(std::clamp(at, 0.0, 1.0) * static_cast<double>(n)));
  }
  return kept;
}

std::vector<size_t> points_of_one_instant(const Timeline& whole, std::mt19937_64& random) {
  std::vector<uint64_t> times;
  for (const ProcessView& p : whole.processes)
    for (const Event& e : p.history) times.push_back(e.record.time_ns);
  const uint64_t instant = times.empty() ? 0 : times[random() % times.size()];
  std::vector<size_t> kept;
  for (const ProcessView& p : whole.processes) {
    // The records of several lanes are in the order of their times only roughly.
    size_t n = 0;
    for (size_t i = 0; i < p.history.size(); ++i)
      if (p.history[i].record.time_ns <= instant) n = i + 1;
    kept.push_back(n);
  }
  return kept;
}

}  // namespace rankfault::testing
