// waits: which ranks wait for which others now: every open or pending call, and the members that have not
// come. JobView::waits() caches them.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "harness/diagnose/model/needs.h"
#include "harness/diagnose/proof/proof.h"

namespace rankfault {

// A place in a communicator's order, and the members, by rank, that are not known to have entered it.
struct Place {
  const CommGroup* group = nullptr;
  uint64_t seq = 0;
  std::vector<std::pair<const Member*, Known>> missing;
};

// One collective call of a live process that is inside or pending at a place.
struct PlaceWait {
  const Place* place = nullptr;
  const Member* waiter = nullptr;
  const Call* call = nullptr;
  const Call* held = nullptr;  // as WaitEdge::held
  Needs needs;

  bool needs_member(const Member& m) const { return needs.certainly(m.rank); }
  WaitEdge edge_to(const Member&, Known entered) const;
};

// The edges of collectives are not listed: half of a large communicator may wait for the other half.
struct Waits {
  std::map<std::pair<const CommGroup*, uint64_t>, Place> places;
  std::vector<PlaceWait> collective;                               // in the order of comms(), members, calls
  std::map<const CommGroup*, std::pair<size_t, size_t>> of_group;  // its range in `collective`
  std::vector<WaitEdge> messages;  // one for each (call, member that did not enter it), by need or not
};

// A wait in a collective of one of a process's communicators, and the process's own seat there.
struct WaitBeside {
  const PlaceWait* wait = nullptr;
  const Member* seat = nullptr;
};
std::vector<WaitBeside> waits_beside(const JobView&, const Process&);

// Returns the edges of the ranks that wait for one process by need, and of NCCL sends that hold their rank.
std::vector<WaitEdge> waiting_for(const JobView&, const Process&);

// Fills sides, op, comm, seq and evidence from the edges on the communicator of the first edge.
void describe_waiters(Finding&, const JobView&, const std::vector<WaitEdge>&);

}  // namespace rankfault
