// MeetAgain: after a collective has failed, the remaining ranks agree on the members of a new world, without
// the broken communicator and without a coordinator, which could die.
//
// All state is files in the rendezvous store, in a directory of this generation (the n-th time that the ranks
// meet again):
//   present-ID   each survivor creates one, with the rank that it was started with
//   world        the list of members. A rank that has seen all others, or has waited long enough,
//                proposes the ranks that it has seen. link(2) makes the file: only the first proposal counts
//   ready-ID     a member has read `world` and is about to connect
// A rank that is not in `world` was late, not dead: it leaves (kind "excluded"), because the others train
// without it. The ready files show when a member dies before it is ready. The limit of connecting shows when
// one dies later. Both are a CollectiveError, and the next generation begins. No rank waits without a limit.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace trainer {

struct Gathering {
  std::string store;
  int generation = 1;
  int id = 0;                // the rank that this process was started with
  std::vector<int> members;  // of the previous generation, in order
  std::chrono::milliseconds wait{};
  std::function<void()> came{};  // called after present-ID exists; may be empty
};

// The directory of a generation's files. Its members put their new store below it.
std::string directory_of(const std::string& store, int generation);

// Returns the members of the new world, in the order of their ids, the same on every member. Throws
// CollectiveError: "excluded", "peer_lost" (a member did not get ready) or "other" (the store cannot be
// used).
std::vector<int> agree_on_members(const Gathering& gathering);

}  // namespace trainer
