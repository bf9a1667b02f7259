// cases: small cases for tests, written as lines.
#pragma once

#include <string>
#include <vector>

#include "harness/reproduce/case.h"

namespace rankfault {

// A job of `ranks` ranks with the group "world".
inline Case job_of(int ranks) {
  Case c;
  c.world_size = ranks;
  c.library = "c10d";
  CaseGroup world{.name = "world"};
  for (int r = 0; r < ranks; ++r) {
    world.members.push_back(r);
    c.ranks.push_back({.rank = r, .state = RankState::kElsewhere});
  }
  c.groups.push_back(world);
  return c;
}

inline CaseCall sum(uint64_t seq, int group = 0, bool open = false) {
  return {.group = group,
          .op = "all_reduce",
          .dtype = "float32",
          .reduce_op = "sum",
          .count = 100,
          .seq = seq,
          .open = open};
}

inline CaseCall message(const char* op, int peer, bool open = false) {
  return {.group = 0, .op = op, .dtype = "float32", .count = 10, .peer = peer, .open = open};
}

// Every rank of `members` makes this call next.
inline void all_make(Case& c, const std::vector<int>& members, const CaseCall& call) {
  for (const int r : members) {
    c.ranks[static_cast<size_t>(r)].calls.push_back(call);
    if (call.open) c.ranks[static_cast<size_t>(r)].state = RankState::kWaits;
  }
}

}  // namespace rankfault
