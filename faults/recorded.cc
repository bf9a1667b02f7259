#include "faults/recorded.h"

#include <map>

#include "harness/scenario/op_names.h"

namespace rankfault {
namespace {

bool is_a_place_in_the_order(const rf_record& record) {
  if (record.flags & RF_CALL_EXECUTION) return false;
  return record.seq != 0 && !is_p2p_op(static_cast<rf_op>(record.op));
}

// A COMPLETE or a late ERROR names its call by seq only: its op is empty.
void add(const rf_record& record, RecordedCall& call) {
  switch (record.phase) {
    case RF_PHASE_EXIT:
      (record.tag_or_result == 0 ? call.succeeded : call.failed) = true;
      break;
    case RF_PHASE_ENQUEUE:
      call.pending = true;
      break;
    case RF_PHASE_COMPLETE:
      call.succeeded = true;
      break;
    case RF_PHASE_ERROR:
      call.failed = true;
      break;
    default:
      break;
  }
}

}  // namespace

const CommView* comm_with_id(const ProcessView& process, uint64_t comm_id) {
  for (const CommView& comm : process.comms)
    if (comm.id == comm_id) return &comm;
  return nullptr;
}

std::vector<RecordedCall> calls_on(const ProcessView& process, uint64_t comm_id) {
  const CommView* comm = comm_with_id(process, comm_id);
  if (!comm) return {};
  std::map<uint64_t, RecordedCall> by_seq;
  for (const Event& event : process.history) {
    const rf_record& record = event.record;
    if (record.comm != comm->index || !is_a_place_in_the_order(record)) continue;
    auto [it, is_new] = by_seq.try_emplace(record.seq);
    if (is_new || it->second.enter.op == RF_OP_NONE) it->second.enter = record;
    it->second.process = &process;
    it->second.comm = comm;
    add(record, it->second);
  }
  std::vector<RecordedCall> out;
  for (auto& [seq, call] : by_seq) out.push_back(call);
  return out;
}

const RecordedCall* call_with_seq(const std::vector<RecordedCall>& calls, uint64_t seq) {
  for (const RecordedCall& call : calls)
    if (call.enter.seq == seq) return &call;
  return nullptr;
}

std::vector<const ProcessView*> peers_on(const RunFacts& facts, const ProcessView& but, uint64_t comm_id) {
  std::vector<const ProcessView*> out;
  for (const ProcessView& process : facts.timeline.processes)
    if (&process != &but && process.attempt == but.attempt && comm_with_id(process, comm_id))
      out.push_back(&process);
  return out;
}

}  // namespace rankfault
