// ended: finds the calls that a process never entered before it ended and that other ranks need.
#pragma once

#include "harness/diagnose/proof/proof.h"

namespace rankfault {

struct UnmetNeed {
  const CommGroup* group = nullptr;  // null: no rank waits for the process
  const Member* member = nullptr;    // the process that ended
  uint64_t seq = 0;                  // the first call that it never entered and another rank is in
  bool in_flight = false;            // the process had entered that call and died inside it
  uint64_t to = 0;                   // the last such call, before the list was cut to the first
  std::vector<WaitEdge> edges;       // the ranks that wait in the call or left it with an error
};

// Returns the first such call by the time a rank entered it. A call that the process certainly never entered
// comes before a call that it died in.
UnmetNeed unmet_needs(const JobView&, const Process& ended);

// The others continued after this end and ended with 0, except those that also died.
bool is_handled(const JobView&, const Process& ended);

// Describes the unmet need: "inside all_reduce 3 on world", "and never entered barrier 2 on world".
std::string unmet_need_text(const UnmetNeed&);

// Fills op, comm, seq, sides, call site, evidence and the proof from an UnmetNeed that has a group.
void describe_unmet(Finding&, const UnmetNeed&);

// Adds what is known about the reason for the end: the kernel's count of kills for lack of memory, and the
// last lines that the process wrote. A Python exception, or the line of a fatal signal, also ends the text.
void describe_reason_of_end(Finding&, const Process&);

// For a process that no rank waits for: adds the call that it ended in, which may be the reason for its end
// (a refused argument, a bad buffer). Adds " inside gather 2 on world" to the text.
void describe_place_of_end(Finding&, const JobView&, const Process&);

}  // namespace rankfault
