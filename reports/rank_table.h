// rank_table: where each rank of a job is at a look, for people: its step, its call, and since when. Ranks at
// the same place share a row.
#pragma once

#include <string>
#include <vector>

#include "harness/observe/timeline.h"

namespace rankfault {

struct RankPlace {
  std::vector<int> ranks;
  std::string step;   // "4"; "" the rank marks no steps
  std::string state;  // "inside", "outside", "stopped", "exit 0", "not started"
  Duration since{};   // of the rank that is there longest; negative: not known
  std::string call;   // "all_reduce on world, call 98, train.py:12"; outside: the last one
};

// "8.2 s"; "" for a negative time.
std::string seconds_text(Duration);

// Reads the states of the lanes alone: a Timeline without histories is enough. `now` is on its clock.
std::vector<RankPlace> rank_places(const Timeline&, Instant now);

// The rows under a head line, cut at `columns` (0: not cut). Of more than `rows` ranks' places, it counts the
// rest.
std::string rank_table(const std::vector<RankPlace>&, size_t columns, size_t rows);

}  // namespace rankfault
