// pairing: what the findings about sequences share: sides, blame, and the proof that the library pairs two
// calls that are not the same call.
#pragma once

#include "harness/diagnose/finding.h"
#include "harness/diagnose/sequence/sequences.h"

namespace rankfault {

// Fills kind, communicator, sides at the position, blamed side (none on a tie or with two ranks) and time.
Finding finding_about(const JobView&, const Divergence&, const char* kind);

// not_the_same_call: proven if the records of all members of both sides are whole and still.
void prove_pairing(Finding&, const Divergence&);

// cannot_return: proven if members wait by need for members that make no more calls. `came` wait for
// `absent`. Returns false if no member waits.
bool prove_waiting(Finding&, const Divergence&, const std::vector<const Member*>& came,
                   const std::vector<const Member*>& absent);

// Fills seq, seq_reason, op and call site of the call that the alignment names.
void name_call(Finding&, const Divergence&, const std::vector<const Member*>& who_made_it);

std::vector<int> world_ranks(const std::vector<const Member*>&);

}  // namespace rankfault
