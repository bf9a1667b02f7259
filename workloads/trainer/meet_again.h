// MeetAgain: after a collective has failed, those who are left agree on who they are, without a coordinator
// that could die and without the broken communicator.
//
// Everything is a file in the rendezvous store, in a directory of this generation (the n-th meeting again):
//   present-ID   each survivor puts one there, under the rank it was started with
//   world        the list of members. Whoever has seen everybody, or has waited its time, proposes whom it
//   saw;
//                the record is made by link(2), so the first proposal is the only one
//   ready-ID     a member has read the record and is about to connect
// A rank that is not in the record was not dead but late: it leaves (kind "excluded"), as the others train on
// without it. A member that dies before it is ready is noticed by the ready files, one that dies later by the
// limit of connecting: both are a CollectiveError, and the next generation begins. Nobody waits without
// bound.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace trainer {

struct Gathering {
  std::string store;
  int generation = 1;
  int id = 0;                // of this rank: the one it was started with
  std::vector<int> members;  // of the generation before, in order
  std::chrono::milliseconds wait{};
  std::function<void()> came{};  // called once this rank is seen to be present; may be empty
};

// Where the files of a generation are; its members may use it as their store.
std::string directory_of(const std::string& store, int generation);

// The members of the new world, in order of their ids; all of them get the same. Throws CollectiveError:
// "excluded", "peer_lost" (a member did not get ready) or "other" (the store cannot be used).
std::vector<int> agree_on_members(const Gathering& gathering);

}  // namespace trainer
