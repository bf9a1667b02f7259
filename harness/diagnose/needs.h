// needs: who must have entered its part before a call can return success, by the operation's own
// data flow. What a library waits for beyond that is no need and proves nothing.
#pragma once

#include "harness/diagnose/view.h"

namespace rankfault {

struct Needs {
  enum class Kind { kNobody, kAll, kUnknown } kind = Kind::kNobody;
  std::vector<int> ranks;  // of the communicator, without the caller

  bool certainly(int rank) const;  // every way to return success needs this rank
};

// `me`: the caller's rank in the communicator of `size`.
Needs needs_of(const Call&, int me, uint32_t size, uint32_t comm_flags = 0);

}  // namespace rankfault
