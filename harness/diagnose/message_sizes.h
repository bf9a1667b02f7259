// message_sizes: sends and receives of NCCL that are matched and do not have the same size. NCCL matches them
// by their order for each pair and direction, so a rank that leaves one out is one ahead from then on.
#pragma once

#include <vector>

#include "harness/diagnose/view.h"

namespace rankfault {

struct UnevenPair {
  const CommGroup* group = nullptr;
  const Member *sender = nullptr, *receiver = nullptr;
  const Call *send = nullptr, *receive = nullptr;
  size_t place = 0;  // among the messages of the pair, from 1
  // Who is ahead: its call is of a size new to the pair, while the other still makes one of a size that they
  // had before; null: neither, or both.
  const Member* ahead = nullptr;
};

// The first uneven one of each pair and direction that waits.
std::vector<UnevenPair> uneven_messages(const JobView&);

}  // namespace rankfault
