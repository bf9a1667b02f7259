// message_sizes: finds sends and receives of NCCL that are matched but differ in size. NCCL matches them by
// their order for each pair and direction, so a rank that omits one is one ahead from then on.
#pragma once

#include <vector>

#include "harness/diagnose/model/view.h"

namespace rankfault {

struct UnevenPair {
  const CommGroup* group = nullptr;
  const Member *sender = nullptr, *receiver = nullptr;
  const Call *send = nullptr, *receive = nullptr;
  size_t place = 0;  // position among the messages of the pair, from 1
  // The member that is ahead: the size of its call is new to the pair, while the other still uses a size that
  // they had before. null: neither, or both.
  const Member* ahead = nullptr;
};

// Returns the first uneven pair of messages that waits, for each pair of ranks and direction.
std::vector<UnevenPair> uneven_messages(const JobView&);

}  // namespace rankfault
