#include "harness/diagnose/model/calls.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

namespace rankfault {
namespace {

// A call under construction: it still owns its shape.
struct Draft : CallShape {
  explicit Draft(CallKey key) {
    call.lane = static_cast<uint8_t>(key.lane);
    call.number = key.number;
  }
  uint32_t number() const { return call.number; }
  Call call;
};

struct HashOfShape {
  size_t operator()(const CallShape& s) const {
    uint64_t hash = 0;
    for (const uint64_t word :
         {uint64_t{s.op}, s.where, s.count, uint64_t{s.comm}, static_cast<uint64_t>(s.peer),
          static_cast<uint64_t>(s.tag), static_cast<uint64_t>(s.stream), static_cast<uint64_t>(s.result),
          s.needs_mask})
      hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
  }
};

void split_tag(CallShape& c) {
  if (!traits_of(c.library).runs_on_streams ||
      !(is_collective(c.op) || c.op == RF_OP_SEND || c.op == RF_OP_RECV))
    return;
  c.stream = c.tag;
  c.tag = 0;
}

class Builder {
 public:
  Builder(const ProcessView& view, const std::vector<Event>& history) : view_(view) {
    std::array<size_t, RF_MAX_LANES + 1> records{};
    for (const Event& event : history)
      if (event.lane <= RF_MAX_LANES && event.record.phase == RF_PHASE_ENTER) ++records[event.lane];
    for (uint32_t i = 0; i < records.size(); ++i) drafts_.of(i).reserve(records[i] ? records[i] + 1 : 0);
    for (const Event& event : history) take(event);
    for (const LaneView& lane : view.lanes) settle(lane);
  }
  std::map<uint32_t, std::vector<uint64_t>> waits_for() { return std::move(requests_); }

  // Returns the calls of all lanes, each with its shape among `shapes`.
  std::vector<Call> all(std::vector<CallShape>& shapes) {
    size_t count = 0;
    for (const auto& lane : drafts_.lanes()) count += lane.size();
    std::vector<size_t> shape_of;
    shape_of.reserve(count);
    std::unordered_map<CallShape, size_t, HashOfShape> known;
    for (const auto& lane : drafts_.lanes())
      for (const Draft& d : lane) shape_of.push_back(known.try_emplace(d, known.size()).first->second);
    shapes.resize(known.size());
    for (const auto& [shape, place] : known) shapes[place] = shape;
    std::vector<Call> calls;
    calls.reserve(count);
    for (const auto& lane : drafts_.lanes())
      for (const Draft& d : lane) {
        calls.push_back(d.call);
        calls.back().shape = &shapes[shape_of[calls.size() - 1]];
      }
    return calls;
  }

 private:
  void enter(const Event& event) {
    const auto [c, is_new] = drafts_.add({event.lane, event.record.call});
    if (!is_new) return;
    const rf_record& r = event.record;
    c->op = r.op;
    c->flags = r.flags;
    c->library = r.library;
    c->dtype = r.dtype;
    c->reduce_op = r.reduce_op;
    c->comm = r.comm;
    c->peer = r.peer;
    c->tag = r.tag_or_result;
    split_tag(*c);
    c->call.seq = r.seq;
    c->count = r.count;
    c->where = r.where;
    c->call.step = step_;
    c->call.entered = instant_of(r.time_ns);
  }

  void leave(Draft* c, const rf_record& r, CallStatus status) {
    if (!c || (status == CallStatus::kPending && c->call.status != CallStatus::kInside)) return;
    c->call.status = status;
    c->call.left = instant_of(r.time_ns);
    c->result = r.tag_or_result;
    if (r.seq != 0) c->call.seq = r.seq;
  }

  void take(const Event& event) {
    const rf_record& r = event.record;
    const std::optional<CallStatus> status = status_by(r);
    if (status == CallStatus::kInside)
      enter(event);
    else if (status)
      leave(drafts_.find(call_of(event)), r, *status);
    else if (r.phase == RF_PHASE_DETAIL)
      detail(drafts_.find(call_of(event)), r);
    else if (r.phase == RF_PHASE_EVENT && r.op == RF_OP_STEP_BEGIN)
      step_ = r.count + 1;
  }

  void detail(Draft* c, const rf_record& r) {
    if (!c) return;
    if (c->op == RF_OP_SENDRECV) {
      c->recv_peer = r.peer;
      c->recv_tag = r.tag_or_result;
    } else if (is_collective(c->op) && c->flags & RF_CALL_MASK_VALID) {
      c->needs_mask = r.where;
      c->mask_known = true;
    } else if (rf_is_wait(c->op) && r.where != 0) {
      auto& [number, origins] = named_[c->call.lane];
      if (number != c->call.number) origins.clear();
      number = c->call.number;
      origins.push_back(r.where);
    }
  }

  // The state says which call is open now. A call without an exit record that is not open has left.
  void settle(const LaneView& lane) {
    if (lane.index > RF_MAX_LANES) return;
    const rf_state& s = lane.state;
    const bool inside = s.where == RF_INSIDE;
    for (Draft& c : drafts_.of(lane.index))
      if (c.call.status == Call::Status::kInside && !(inside && c.call.number == s.call)) {
        c.call.status =
            c.call.number == s.call && s.last_result != 0 ? Call::Status::kFailed : Call::Status::kReturned;
        c.call.left = instant_of(s.since_ns);
      }
    if (!inside) return;
    Draft* c = drafts_.find({lane.index, s.call});
    if (c && c->call.status != Call::Status::kInside) return;  // it left between record and state
    if (!c) c = from_state(lane);
    c->call.seq = std::max(c->call.seq, s.seq);
    if (!c->mask_known) c->needs_mask = s.needs_mask;
    c->deadline = instant_of(s.deadline_ns);
    c->recv_peer = s.recv_peer;
    c->pending_count = s.pending_count;
    if (!rf_is_wait(c->op)) return;
    std::vector<uint64_t>& origins = requests_[lane.index];
    for (const uint64_t origin : s.pending)
      if (origin != 0) origins.push_back(origin);
    const auto& [number, more] = named_[lane.index];
    if (number == c->call.number) origins.insert(origins.end(), more.begin(), more.end());
  }

  Draft* from_state(const LaneView& lane) {
    const rf_state& s = lane.state;
    Draft& c = *drafts_.add({lane.index, s.call}).first;
    c.op = s.op;
    c.flags = s.flags;
    c.library = s.library;
    c.dtype = s.dtype;
    c.reduce_op = s.reduce_op;
    c.comm = s.comm;
    c.peer = s.peer;
    c.tag = s.tag;
    split_tag(c);
    c.call.seq = s.seq;
    c.count = s.count;
    c.where = s.return_address;
    c.call.step = step_;
    c.call.entered = instant_of(s.since_ns);
    return &c;
  }

  const ProcessView& view_;
  LaneCalls<Draft> drafts_;
  std::map<uint32_t, std::pair<uint32_t, std::vector<uint64_t>>>
      named_;  // for each lane: the number of its newest wait
  std::map<uint32_t, std::vector<uint64_t>> requests_;
  uint64_t step_ = 0;
};

}  // namespace

bool build_calls(Process& process) {
  const auto from = [&](const std::vector<Event>& history) {
    Builder builder(*process.view, history);
    process.waits_for = builder.waits_for();
    process.calls = builder.all(process.shapes);
  };
  if (!process.view->source) {
    from(process.view->history);
    return true;
  }
  const std::optional<std::vector<Event>> history = process.view->events();
  from(history.value_or(std::vector<Event>{}));
  return history.has_value();
}

}  // namespace rankfault
