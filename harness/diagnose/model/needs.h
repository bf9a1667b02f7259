// needs: the ranks that must have entered their part before a call can return success, by the operation's own
// data flow. If a library waits for more than that, the wait is not a need and proves nothing.
#pragma once

#include "harness/diagnose/model/view.h"

namespace rankfault {

struct Needs {
  enum class Kind { kNobody, kAll, kUnknown } kind = Kind::kNobody;
  enum class Who { kOthers, kOne, kLower, kMasked } who = Who::kOthers;  // for kAll: which ranks
  int me = -1, size = 0, one = -1;
  uint64_t mask = 0;

  bool certainly(int rank) const;  // the call cannot return success without this rank
};

// `me`: the caller's rank in the communicator of `size`. For a collective of NCCL: the needs of its
// completion, because the host call needs no other rank.
Needs needs_of(const Call&, int me, uint32_t size, uint32_t comm_flags = 0);
// The same, limited to what the caller's record supports: dumps of streams do not have the time of a call.
Needs needs_of(const Call&, const Member& caller, const CommGroup&);

}  // namespace rankfault
