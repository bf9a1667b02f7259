// SequenceCheck: do all ranks have the same history of collectives, and the same results?
//
// Each rank keeps a running hash of (operation, bucket, step, result). Before a step is committed the
// hashes are gathered and compared. The gather is of another kind than the reductions it checks, so a
// rank that left one out cannot pair with its peers' next reduction here: it waits, and times out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "workloads/trainer/hash.h"

namespace trainer {

class Collectives;

class SequenceCheck {
 public:
  void note(const char* operation, uint64_t bucket, int64_t step, const void* result, size_t bytes);

  // Asks all ranks. False: at least one has another history.
  bool all_agree(Collectives& collectives) const;

  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = kHashStart;
};

}  // namespace trainer
