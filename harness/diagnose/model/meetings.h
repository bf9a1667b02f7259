// meetings: finds communicators that ranks are joining, and the missing members: those of NCCL by their ids,
// groups of PyTorch by their numbers.
#pragma once

#include <set>
#include <vector>

#include "harness/diagnose/waits/joining_ranks.h"

namespace rankfault {

struct Meeting {
  bool numbered = false;  // a group of PyTorch
  int id = 0;             // its number; of NCCL: RF_TAG_OF_ID
  uint64_t members = 0;   // number of members that it needs
  std::vector<Joining> waiting;
  Instant since;        // when the first of them began to wait
  std::set<int> seats;  // ranks of the communicator that have come: they wait or have joined

  size_t missing() const { return members > seats.size() ? members - seats.size() : 0; }
  std::vector<int> ranks() const;  // the ranks that wait
};
// Returns the meetings that ranks wait in and that lack a member, in the order of their first waiting rank.
// It omits calls whose record lacks the id or the size, and groups about which ranks disagree
// (numbered_groups.h).
std::vector<Meeting> meetings(const JobView&);

// Returns members of the job that have no seat at a meeting, including those that have ended.
std::vector<const Process*> elsewhere(const JobView&, const Meeting&);

}  // namespace rankfault
