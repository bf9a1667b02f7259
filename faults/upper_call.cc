#include "faults/upper_call.h"

#include "harness/base/op_names.h"

namespace rankfault {
namespace {

// Only a library that puts work on streams has upper calls above it.
bool is_below(const CommView& comm) { return traits_of(static_cast<uint8_t>(comm.library)).runs_on_streams; }

}  // namespace

GateEvent with_communicator(GateEvent gate, const ProcessView& victim) {
  if (!gate.group || gate.group->empty() || gate.comm_id != 0) return gate;
  for (const CommView& comm : victim.comms)
    if (is_below(comm) && comm.name.rfind(*gate.group, 0) == 0) {
      gate.comm_id = comm.id;
      break;
    }
  return gate;
}

std::vector<const CommView*> communicators_of(const GateEvent& gate, const ProcessView& process) {
  std::vector<const CommView*> out;
  for (const CommView& comm : process.comms)
    if (gate.group ? is_below(comm) : comm.id == gate.comm_id) out.push_back(&comm);
  return out;
}

bool may_be_of(const RecordedCall& call, const GateEvent& gate) {
  if (gate.op == op_text(call.op())) return true;
  return gate.group && call.traits().runs_on_streams &&
         (rf_is_collective(call.op()) || is_message(call.op()));
}

}  // namespace rankfault
