// pairing: what the findings about sequences have in common: sides, blame, and when it is proven that
// the library pairs calls that are not the same call.
#pragma once

#include "harness/diagnose/finding.h"
#include "harness/diagnose/sequences.h"

namespace rankfault {

// Kind, communicator, sides at the position, blamed side (nobody on a tie or at two ranks), time.
Finding finding_about(const JobView&, const Divergence&, const char* kind);

// not_the_same_call: proven when the records of all members of both sides are whole and still.
void prove_pairing(Finding&, const Divergence&);

// cannot_return: proven when members wait by need for members that make no call any more. `came` wait
// for `absent`. False when nobody waits.
bool prove_waiting(Finding&, const Divergence&, const std::vector<const Member*>& came,
                   const std::vector<const Member*>& absent);

// seq, seq_reason, op and call site of the call that the alignment names.
void name_call(Finding&, const Divergence&, const std::vector<const Member*>& who_made_it);

std::vector<int> world_ranks(const std::vector<const Member*>&);

}  // namespace rankfault
