// NodeRanks: fork, exec, waitpid.
#include "workloads/trainer/supervisor/node_ranks.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "workloads/trainer/stop_request.h"

namespace trainer {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenLooks{5};

// Runs in the child. The kernel ends the child whenever this process ends, in any way.
[[noreturn]] void become_rank(std::vector<char*> argv, int rank, int world_size, pid_t parent) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(125);
  ::setenv("RANK", std::to_string(rank).c_str(), 1);
  ::setenv("WORLD_SIZE", std::to_string(world_size).c_str(), 1);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

int status_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

}  // namespace

NodeRanks::NodeRanks(const std::vector<std::string>& command, const NodePlace& place,
                     const std::string& store) {
  std::vector<std::string> words = command;
  words.push_back("--store=" + store);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t self = ::getpid();
  for (int rank = place.first_rank; rank < place.first_rank + place.ranks; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) become_rank(argv, rank, place.world_size, self);
    if (child > 0) running_[child] = rank;
  }
}

NodeRanks::~NodeRanks() {
  signal_all(SIGKILL);
  for (const auto& [pid, rank] : running_) ::waitpid(pid, nullptr, 0);
}

RankProcessEnd NodeRanks::wait(std::chrono::milliseconds grace) {
  RankProcessEnd first;
  bool told_to_stop = false;
  std::optional<Clock::time_point> give_up;
  while (!running_.empty()) {
    reap(&first);
    if (first.status != 0 && !give_up) give_up = Clock::now() + grace;
    if (give_up && Clock::now() >= *give_up) signal_all(SIGKILL);
    if (stop_requested() && !told_to_stop) signal_all(SIGTERM);
    told_to_stop = stop_requested();
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return first;
}

void NodeRanks::reap(RankProcessEnd* first) {
  for (auto it = running_.begin(); it != running_.end();) {
    int status = 0;
    if (::waitpid(it->first, &status, WNOHANG) != it->first) {
      ++it;
      continue;
    }
    if (first->status == 0) *first = {it->second, status_of(status)};
    it = running_.erase(it);
  }
}

void NodeRanks::signal_all(int signal) {
  for (const auto& [pid, rank] : running_) ::kill(pid, signal);
}

}  // namespace trainer
