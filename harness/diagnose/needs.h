// needs: who must have entered its part before a call can return success, by the operation's own
// data flow. What a library waits for beyond that is no need and proves nothing.
#pragma once

#include "harness/diagnose/view.h"

namespace rankfault {

struct Needs {
  enum class Kind { kNobody, kAll, kUnknown } kind = Kind::kNobody;
  enum class Who { kOthers, kOne, kLower, kMasked } who = Who::kOthers;  // of kAll: ranks of the communicator
  int me = -1, size = 0, one = -1;
  uint64_t mask = 0;

  bool certainly(int rank) const;  // every way to return success needs this rank
};

// `me`: the caller's rank in the communicator of `size`. Of a collective of NCCL: what its completion needs,
// since the host call needs nobody.
Needs needs_of(const Call&, int me, uint32_t size, uint32_t comm_flags = 0);
// The same as far as the caller's record bears it: dumps of streams do not tell when they were made.
Needs needs_of(const Call&, const Member& caller, const CommGroup&);

}  // namespace rankfault
