// NodeRanks: the rank processes of one node in one attempt. It starts them together, waits for them, and
// leaves none behind.
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

// The ranks of the job that run on this node.
struct NodePlace {
  int first_rank = 0, ranks = 1, world_size = 1;
};

class NodeRanks {
 public:
  // Runs `command` with --store=STORE added, and with RANK and WORLD_SIZE in the environment.
  NodeRanks(const std::vector<std::string>& command, const NodePlace& place, const std::string& store);
  ~NodeRanks();  // ends those that still run
  NodeRanks(const NodeRanks&) = delete;
  NodeRanks& operator=(const NodeRanks&) = delete;

  // Waits for all ranks. After a failure, the others have `grace` to leave by themselves, and are then
  // killed: a rank may hang in a call that only its watchdog ends, and the watchdog may be absent or fail.
  // Returns the first failure, or status 0. Passes a stop request on to the ranks.
  RankProcessEnd wait(std::chrono::milliseconds grace);

 private:
  void reap(RankProcessEnd* first);
  void signal_all(int signal);

  std::map<pid_t, int> running_;  // the rank of each process
};

}  // namespace trainer
