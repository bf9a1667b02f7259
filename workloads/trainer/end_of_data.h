// end_of_data: what a rank does if its loader has no batch while other ranks still have one.
//
// Samples are assigned to ranks by their global index, so the last batch may have samples for some ranks
// only. If a rank leaves the loop alone, its peers wait for it in the next gradient all-reduce.
#pragma once

#include <cstdint>

namespace trainer {

class Collectives;
struct Options;

enum class EndOfData {
  kFlag,      // sets the error flag: all ranks stop in that step, and its samples are lost
  kDropLast,  // no rank begins an incomplete batch; each rank computes this without communication
  kAgree,     // before the first step, all ranks agree on the smallest number of steps
  kJoin,      // continues to make the calls, with zeros, until no rank has data
  kLeave,     // leaves the loop alone: the bug
};

// True if the batch of `step` has a sample for this rank.
bool has_samples(const Options& options, int64_t step);

// The last step of the training, as far as it is known before the first one. With kAgree, a collective call.
int64_t last_step(const Options& options, Collectives& collectives);

}  // namespace trainer
