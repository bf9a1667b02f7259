// SimulatedCollectives: collectives built from messages, as MPI libraries build them. Messages match by
// communicator, kind, source and destination, in the order of sending. The place of a call does not matter.
#pragma once

#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "tests/support/timeline_builder.h"

namespace rankfault::testing {

class SimulatedCollectives {
 public:
  // Draws which algorithms this library has.
  explicit SimulatedCollectives(std::mt19937& random);

  // `comm` is the number of the communicator, `members` its ranks. Sends at once all that can be sent.
  void enter(int rank, const CallSpec&, int comm, const std::vector<int>& members);
  bool can_return(int rank) const { return calls_.at(rank).next == calls_.at(rank).steps.size(); }
  void leave(int rank) { calls_.erase(rank); }  // also when it dies: its sent messages stay

 private:
  enum Kind { kBroadcast, kReduce, kAllReduce, kBarrier };
  enum class Shape {
    kFlat,      // all ranks with the root, or with all
    kTree,      // binomial: others pass it on
    kComposed,  // for all_reduce: a reduce and a broadcast, which the user's calls of these kinds may meet
  };
  struct Step {
    bool is_send;
    int peer;
    Kind kind;
  };
  struct Call {
    int comm;
    std::vector<Step> steps;
    size_t next = 0;
  };
  using Channel = std::tuple<int, Kind, int, int>;  // communicator, kind, from, to

  struct Place;  // a rank among the members, seen from the root
  std::vector<Step> steps(const CallSpec&, const Place&) const;
  static void broadcast(std::vector<Step>&, const Place&, Shape, Kind);
  static void reduce(std::vector<Step>&, const Place&, Shape, Kind);
  static void exchange(std::vector<Step>&, const Place&, Kind);
  bool go_on(int rank, Call&);

  Shape rooted_, all_reduce_, barrier_;
  std::map<int, Call> calls_;         // of the ranks that are inside a call
  std::map<Channel, size_t> unread_;  // sent, and not yet received
};

}  // namespace rankfault::testing
