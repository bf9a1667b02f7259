#include "faults/members.h"

#include "harness/observe/call_records.h"

namespace rankfault {

std::vector<const ProcessView*> peers_on(const RunFacts& facts, const ProcessView& but, uint64_t comm_id) {
  std::vector<const ProcessView*> out;
  for (const ProcessView& process : facts.timeline.processes)
    if (&process != &but && process.attempt == but.attempt && comm_with_id(process, comm_id))
      out.push_back(&process);
  return out;
}

}  // namespace rankfault
