// ended: what the others need of a process that has ended and that it never entered.
#pragma once

#include "harness/diagnose/proof.h"

namespace rankfault {

struct Unmet {
  const CommGroup* group = nullptr;  // null: nobody waits for it
  const Member* member = nullptr;    // the ended one
  uint64_t seq = 0;                  // of the first call it never entered that somebody is in
  bool in_flight = false;            // it had entered that call and died inside it
  uint64_t to = 0;                   // of the last one, before only the first were kept
  std::vector<WaitEdge> edges;       // those who wait in it, or left it with an error
};

// The first such call, by the time somebody entered it; calls it certainly never entered before one
// it died in.
Unmet unmet_needs(const JobView&, const Process& ended);

// The others went on after this end, and ended with 0 (but for those that died, too).
bool is_handled(const JobView&, const Process& ended);

// How it let them down: "inside all_reduce 3 on world", "and never entered barrier 2 on world".
std::string let_down(const Unmet&);

// Fills op, comm, seq, sides, call site, evidence and the proof from an Unmet with a group.
void tell_unmet(Finding&, const Unmet&);

// Where nobody waits for it: the call that it ended in, which may be what ended it (a refused argument, a bad
// buffer). Adds " inside gather 2 on world" to the text.
void tell_where_it_ended(Finding&, const JobView&, const Process&);

}  // namespace rankfault
