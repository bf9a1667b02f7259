// SimulatedCollectives: collectives put together from messages, as MPI libraries do it. What finds each other
// is told by communicator, kind, source and destination, in the order of sending: nothing of the place of a
// call.
#pragma once

#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "tests/support/timeline_builder.h"

namespace rankfault::testing {

class SimulatedCollectives {
 public:
  // Which algorithms this library has is drawn.
  explicit SimulatedCollectives(std::mt19937& random);

  // `comm` is a number of the communicator, `members` its ranks. What can be sent is sent at once.
  void enter(int rank, const CallSpec&, int comm, const std::vector<int>& members);
  bool can_return(int rank) const { return calls_.at(rank).next == calls_.at(rank).steps.size(); }
  void leave(int rank) { calls_.erase(rank); }  // also by dying: what it has sent is still there

 private:
  enum Kind { kBroadcast, kReduce, kAllReduce, kBarrier };
  enum class Shape {
    kFlat,      // everybody with the root, or with everybody
    kTree,      // binomial: others pass it on
    kComposed,  // of all_reduce: a reduce and a broadcast, which the same kind of call of the user's may meet
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

  struct Place;  // of a rank among the members, seen from the root
  std::vector<Step> steps(const CallSpec&, const Place&) const;
  static void broadcast(std::vector<Step>&, const Place&, Shape, Kind);
  static void reduce(std::vector<Step>&, const Place&, Shape, Kind);
  static void exchange(std::vector<Step>&, const Place&, Kind);
  bool go_on(int rank, Call&);

  Shape rooted_, all_reduce_, barrier_;
  std::map<int, Call> calls_;         // of the ranks that are inside one
  std::map<Channel, size_t> unread_;  // sent, and not yet received
};

}  // namespace rankfault::testing
