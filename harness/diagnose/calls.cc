// calls: see calls.h.
#include "harness/diagnose/calls.h"

#include <algorithm>
#include <array>

namespace rankfault {
namespace {

bool is_wait(uint16_t op) { return op == RF_OP_WAIT || op == RF_OP_WAIT_ANY; }

class Builder {
 public:
  explicit Builder(const ProcessView& view) : view_(view) {
    std::array<size_t, RF_MAX_LANES + 1> records{};
    for (const Event& event : view.history)
      if (event.lane <= RF_MAX_LANES && event.record.phase == RF_PHASE_ENTER) ++records[event.lane];
    for (size_t i = 0; i < records.size(); ++i) lanes_[i].reserve(records[i] ? records[i] + 1 : 0);
    for (const Event& event : view.history) take(event);
    for (const LaneView& lane : view.lanes) settle(lane);
  }
  std::map<uint32_t, std::vector<uint64_t>> waits_for() { return std::move(requests_); }
  std::vector<Call> all() {
    std::vector<Call> calls;
    for (auto& lane : lanes_) {
      if (calls.empty())
        calls = std::move(lane);  // most processes have one lane that calls
      else
        calls.insert(calls.end(), lane.begin(), lane.end());
    }
    return calls;
  }

 private:
  // The call with that number, or null. Numbers grow along a lane; the newest is asked for most.
  Call* find(uint32_t lane, uint32_t number) {
    if (lane > RF_MAX_LANES) return nullptr;
    std::vector<Call>& calls = lanes_[lane];
    if (!calls.empty() && calls.back().number == number) return &calls.back();
    const auto at = std::lower_bound(calls.begin(), calls.end(), number,
                                     [](const Call& c, uint32_t n) { return c.number < n; });
    return at != calls.end() && at->number == number ? &*at : nullptr;
  }

  void enter(const Event& event) {
    const rf_record& r = event.record;
    Call c;
    c.lane = event.lane;
    c.number = r.call;
    c.op = r.op;
    c.flags = r.flags;
    c.library = r.library;
    c.dtype = r.dtype;
    c.reduce_op = r.reduce_op;
    c.comm = r.comm;
    c.peer = r.peer;
    c.tag = r.tag_or_result;
    c.seq = r.seq;
    c.count = r.count;
    c.where = r.where;
    c.step = step_;
    c.entered = r.time_ns;
    std::vector<Call>& calls = lanes_[event.lane];
    if (calls.empty() || calls.back().number < c.number)
      calls.push_back(c);
    else if (!find(event.lane, c.number))
      calls.insert(std::lower_bound(calls.begin(), calls.end(), c.number,
                                    [](const Call& a, uint32_t n) { return a.number < n; }),
                   c);
  }

  void leave(Call* c, const rf_record& r, Call::Status status) {
    if (!c) return;
    c->status = status;
    c->left = r.time_ns;
    c->result = r.tag_or_result;
    if (r.seq != 0) c->seq = r.seq;
  }

  void take(const Event& event) {
    const rf_record& r = event.record;
    switch (r.phase) {
      case RF_PHASE_ENTER:
        return enter(event);
      case RF_PHASE_EXIT:
        return leave(find(event.lane, r.call), r,
                     r.tag_or_result == 0 ? Call::Status::kReturned : Call::Status::kFailed);
      case RF_PHASE_ENQUEUE:
        if (Call* c = find(event.lane, r.call); c && c->status == Call::Status::kInside)
          leave(c, r, Call::Status::kPending);
        return;
      case RF_PHASE_COMPLETE:
      case RF_PHASE_ERROR: {
        // Of pending work `where` is its origin; the lane may be another one.
        const bool origin = r.op == RF_OP_NONE && r.where != 0;
        Call* c = origin ? find(static_cast<uint32_t>(r.where >> 32), static_cast<uint32_t>(r.where))
                         : find(event.lane, r.call);
        return leave(c, r, r.phase == RF_PHASE_ERROR ? Call::Status::kFailed : Call::Status::kReturned);
      }
      case RF_PHASE_DETAIL:
        return detail(find(event.lane, r.call), r);
      case RF_PHASE_EVENT:
        if (r.op == RF_OP_STEP_BEGIN) step_ = r.count + 1;
        return;
      default:
        return;
    }
  }

  void detail(Call* c, const rf_record& r) {
    if (!c) return;
    if (c->op == RF_OP_SENDRECV) {
      c->recv_peer = r.peer;
      c->recv_tag = r.tag_or_result;
    } else if (is_wait(c->op) && r.where != 0) {
      auto& [number, origins] = named_[c->lane];
      if (number != c->number) origins.clear();
      number = c->number;
      origins.push_back(r.where);
    }
  }

  // The state says what is open now; a call whose exit record is missing has left.
  void settle(const LaneView& lane) {
    if (lane.index > RF_MAX_LANES) return;
    const rf_state& s = lane.state;
    const bool inside = s.where == RF_INSIDE;
    for (auto& c : lanes_[lane.index])
      if (c.status == Call::Status::kInside && !(inside && c.number == s.call)) {
        c.status = c.number == s.call && s.last_result != 0 ? Call::Status::kFailed : Call::Status::kReturned;
        c.left = s.since_ns;
      }
    if (!inside) return;
    Call* c = find(lane.index, s.call);
    if (c && c->status != Call::Status::kInside) return;  // left between its record and its state
    if (!c) c = from_state(lane);
    c->seq = std::max(c->seq, s.seq);
    c->needs_mask = s.needs_mask;
    c->deadline_ns = s.deadline_ns;
    c->recv_peer = s.recv_peer;
    c->pending_count = s.pending_count;
    if (!is_wait(c->op)) return;
    std::vector<uint64_t>& origins = requests_[lane.index];
    for (const uint64_t origin : s.pending)
      if (origin != 0) origins.push_back(origin);
    const auto& [number, more] = named_[lane.index];
    if (number == c->number) origins.insert(origins.end(), more.begin(), more.end());
  }

  Call* from_state(const LaneView& lane) {
    const rf_state& s = lane.state;
    Call c;
    c.lane = lane.index;
    c.number = s.call;
    c.op = s.op;
    c.flags = s.flags;
    c.library = s.library;
    c.dtype = s.dtype;
    c.reduce_op = s.reduce_op;
    c.comm = s.comm;
    c.peer = s.peer;
    c.tag = s.tag;
    c.seq = s.seq;
    c.count = s.count;
    c.where = s.return_address;
    c.step = step_;
    c.entered = s.since_ns;
    std::vector<Call>& calls = lanes_[lane.index];
    return &*calls.insert(std::lower_bound(calls.begin(), calls.end(), c.number,
                                           [](const Call& a, uint32_t n) { return a.number < n; }),
                          c);
  }

  const ProcessView& view_;
  std::array<std::vector<Call>, RF_MAX_LANES + 1> lanes_;
  std::map<uint32_t, std::pair<uint32_t, std::vector<uint64_t>>>
      named_;  // of a lane's newest wait: its number
  std::map<uint32_t, std::vector<uint64_t>> requests_;
  uint64_t step_ = 0;
};

}  // namespace

void build_calls(Process& process) {
  Builder builder(*process.view);
  process.waits_for = builder.waits_for();
  process.calls = builder.all();
}

}  // namespace rankfault
