// SequenceCheck: the running hash and its comparison over all ranks.
#include "workloads/trainer/sequence_check.h"

#include <algorithm>
#include <cstring>

#include "workloads/trainer/collectives.h"

namespace trainer {

void SequenceCheck::note(const char* operation, uint64_t bucket, int64_t step, const void* result,
                         size_t bytes) {
  hash_ = hash_bytes(operation, std::strlen(operation), hash_);
  hash_ = hash_bytes(&bucket, sizeof bucket, hash_);
  hash_ = hash_bytes(&step, sizeof step, hash_);
  hash_ = hash_bytes(result, bytes, hash_);
}

bool SequenceCheck::all_agree(Collectives& collectives) const {
  const auto hashes = collectives.all_gather(hash_);
  return std::all_of(hashes.begin(), hashes.end(), [this](uint64_t other) { return other == hash_; });
}

}  // namespace trainer
