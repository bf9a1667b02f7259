// SequenceCheck: do all ranks have the same history of collectives, and the same results?
//
// Each rank keeps a running hash of (operation, bucket, step, result). Before a step is committed, the ranks
// gather and compare the hashes. The gather is another operation than the reductions that it checks. So if a
// rank has left out a reduction, its gather does not match its peers' next reduction: it waits, and times
// out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "workloads/trainer/hash.h"

namespace trainer {

class Collectives;

class SequenceCheck {
 public:
  void note(const char* operation, uint64_t bucket, int64_t step, const void* result, size_t bytes);

  // Compares the hashes of all ranks. False: at least one rank has another history.
  bool all_agree(Collectives& collectives) const;

  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = kHashStart;
};

}  // namespace trainer
