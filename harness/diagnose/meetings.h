// meetings: communicators of NCCL that ranks are joining, told apart by their ids, and the members that are
// missing.
#pragma once

#include <set>
#include <vector>

#include "harness/diagnose/joining.h"

namespace rankfault {

struct Meeting {
  int id = 0;            // RF_TAG_OF_ID
  uint64_t members = 0;  // that it takes
  std::vector<Joining> waiting;
  TimeNs since = 0;     // of the first of them
  std::set<int> seats;  // ranks of the communicator that have come, waiting or through

  size_t missing() const { return members > seats.size() ? members - seats.size() : 0; }
  std::vector<int> ranks() const;  // that wait
};
// Those that ranks wait in and that a member is missing of; the first that waits comes first. Calls whose
// record does not have the id and the size belong to none.
std::vector<Meeting> meetings(const JobView&);

// Members of the job that have no seat at a meeting, those that have ended among them.
std::vector<const Process*> elsewhere(const JobView&, const Meeting&);

}  // namespace rankfault
