// heard: the messages of logs, put together by the rank that they are of.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/reproduce/logs/clue.h"

namespace rankfault {

// What the messages of one rank say.
struct HeardRank {
  std::optional<Clue> gave_up;  // the first call that it gave up
  std::optional<Clue> stack;    // where it was
  std::optional<Clue> end;      // how its process ended
  int64_t last_enqueued = -1;
  std::set<std::pair<std::string, int64_t>> calls;  // all calls that it gave up: several are several hangs
  std::optional<Clue> misfit;                       // it received more than its call takes
  bool lost_peer = false, timed_out = false;
};

struct HeardJob {
  // `files`: ranks that have a log file of their own.
  HeardJob(std::vector<Clue> clues, const std::set<int>& files);
  HeardJob(const HeardJob&) = delete;  // its pointers are into its own clues

  std::map<int, HeardRank> ranks;
  std::vector<const Clue*> differs;       // the library itself names ranks
  std::vector<const Clue*> unjoined;      // a rendezvous gave up
  std::vector<const Clue*> ends;          // the first of each rank, in the order of the logs
  std::vector<const Clue*> resources;     // the system refused a file or a segment
  std::vector<const Clue*> without_rank;  // a call was given up, and the message names no rank
  int world_size = 0;
  bool world_is_guessed = false;  // from the highest rank that a message or the name of a file has
  bool in_backward = false;       // an exception that left backward() is taken for one of an all_reduce

  // The call that most ranks gave up, and those ranks; null: no message names a call.
  const Clue* call = nullptr;
  std::set<int> in_call;

  size_t ranks_of_several_calls() const;  // ranks that gave up more than one call
  // No rank reached a limit, and each lost a connection: a rank that ended was the cause.
  bool only_losses() const;

 private:
  void hear(const Clue&);
  void find_call();

  std::vector<Clue> clues_;
  int highest_ = -1;  // rank that a message names
};

// The same operation at the same place, with the same count where counts may not differ.
bool same_call(const Clue&, const Clue&);
bool is_group_of_all(const std::string& group);

}  // namespace rankfault
