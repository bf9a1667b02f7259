// rewound: see rewound.h.
#include "harness/diagnose/rewound.h"

#include <algorithm>

#include "harness/observe/state_of_record.h"

namespace rankfault {
namespace {

bool communicates(const Call& c) { return c.library != RF_LIB_LIBC && c.op != RF_OP_COMM_FREE; }

// The blocking call whose error was the last thing that the process heard of its peers; null otherwise.
const Call* last_word(const Process& p) {
  if (!p.ended() || p.has_streams()) return nullptr;
  const Call* last = nullptr;
  for (const Call& c : p.calls)
    if (communicates(c) && (!last || c.entered > last->entered)) last = &c;
  if (!last || last->status != Call::Status::kFailed) return nullptr;
  const bool is_kept_whole = !(last->flags & (RF_CALL_NONBLOCKING | RF_CALL_EXECUTION)) &&
                             last->op != RF_OP_WAIT && last->op != RF_OP_WAIT_ANY;
  return is_kept_whole ? last : nullptr;
}

void put_back(ProcessView& p, const Call& call) {
  const auto is_of_call = [&](const Event& e) { return e.lane == call.lane && e.record.call == call.number; };
  const auto entry = std::find_if(p.history.begin(), p.history.end(), [&](const Event& e) {
    return is_of_call(e) && e.record.phase == RF_PHASE_ENTER;
  });
  if (entry == p.history.end()) return;
  const rf_record entered = entry->record;
  std::erase_if(p.history, [&](const Event& e) {
    return is_of_call(e) && (e.record.phase == RF_PHASE_EXIT || e.record.phase == RF_PHASE_ERROR);
  });
  for (LaneView& lane : p.lanes)
    if (lane.index == call.lane) lane.state = state_by_record_alone(entered);
  p.stage = RF_STAGE_MEMBER;
  p.end = {};
}

}  // namespace

std::optional<Timeline> before_ranks_gave_up(const JobView& job) {
  std::optional<Timeline> before;
  for (const auto& p : job.processes()) {
    const Call* call = last_word(*p);
    if (!call) continue;
    if (!before) before = job.timeline();
    put_back(before->processes[static_cast<size_t>(p->view - job.timeline().processes.data())], *call);
  }
  if (before) before->job_over = false;
  return before;
}

}  // namespace rankfault
