// late: live ranks that others have waited for longer than a limit, and that are outside all calls.
#pragma once

#include "harness/diagnose/waits.h"

namespace rankfault {

struct Late {
  const Process* process = nullptr;
  std::vector<WaitEdge> edges;  // those who wait for it
  Duration waited{};
  bool sleeping = false;  // every thread lane of it sleeps or waits for a device
};

// Ranks that have finished, ended or are stopped are not late: other rules speak of them.
std::vector<Late> late_ranks(const JobView&, Duration limit);

// How long is too long to be called slow only.
inline Duration stuck_after(Duration slow_after) { return slow_after * 10; }

}  // namespace rankfault
