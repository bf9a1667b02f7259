// NodeRanks: the rank processes of one node in one attempt: started together, waited for, and none left
// behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainer {

struct RankProcessEnd {
  int rank = 0;
  int status = 0;  // the exit code, or 128 + the signal's number
};

// Which ranks of the job are this node's.
struct NodePlace {
  int first_rank = 0, ranks = 1, world_size = 1;
};

class NodeRanks {
 public:
  // `command` with --store=STORE added; RANK and WORLD_SIZE are told by the environment.
  NodeRanks(const std::vector<std::string>& command, const NodePlace& place, const std::string& store);
  ~NodeRanks();  // ends those that still run
  NodeRanks(const NodeRanks&) = delete;
  NodeRanks& operator=(const NodeRanks&) = delete;

  // Waits for all of them. Once one has failed, the others have `grace` to leave by themselves, then they are
  // killed: a rank may hang in a call that only its watchdog ends, and it has none or it fails. Returns the
  // first failure, or status 0. A stop that came in between is passed on to them.
  RankProcessEnd wait(std::chrono::milliseconds grace);

 private:
  void reap(RankProcessEnd* first);
  void signal_all(int signal);

  std::map<pid_t, int> running_;  // to their ranks
};

}  // namespace trainer
