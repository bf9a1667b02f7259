// end_of_data: what a rank does whose loader has no batch while others still have one.
//
// A data set of `samples` is dealt by global index, so its last batch may hold a sample for some ranks and
// none for the others. Whoever leaves the loop alone keeps its peers waiting in the next gradient all-reduce.
#pragma once

#include <cstdint>

namespace trainer {

class Collectives;
struct Options;

enum class EndOfData {
  kFlag,      // says so in the error flag: all stop in that step, and its samples are lost
  kDropLast,  // nobody begins a batch that is not whole: known to all without a word
  kAgree,     // all ranks agree on the least number of steps before the first
  kJoin,      // goes on making the calls, with zeros, until nobody has data
  kLeave,     // leaves the loop alone: the bug
};

// Whether this rank has a sample of step's batch.
bool has_samples(const Options& options, int64_t step);

// The last step that anybody makes, as far as it is known before the first one. Collective with kAgree.
int64_t last_step(const Options& options, Collectives& collectives);

}  // namespace trainer
