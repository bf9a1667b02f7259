// trainer_supervisor: starts the ranks of one node, and restarts them from their newest checkpoint after a
// failure. When the failure window is full, it escalates: it reports the reason and ends.
//
// Each node has its own supervisor. RANK and WORLD_SIZE are the number of the node and the number of nodes.
// The supervisors do not communicate: a failure on any node breaks the communicator on all nodes, so all
// supervisors count the same failures and are in the same attempt.
//
// This is not a part of the trainer, because a dead process cannot restart itself. It is not a part of the
// harness, because `restarts:` of a scenario only relaunches a given number of times, to observe the result.
// When to stop is a policy of the job.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "workloads/trainer/options.h"
#include "workloads/trainer/stop_request.h"
#include "workloads/trainer/supervisor/node_ranks.h"
#include "workloads/trainer/supervisor/restart_window.h"
#include "workloads/trainer/train.h"

namespace trainer {

namespace {

constexpr const char* kSupervisorUsage =
    "usage: [RANK=node WORLD_SIZE=nodes] trainer_supervisor --ranks=N --store=DIR [--failures=3] "
    "[--window=60m] [--grace=5s] -- "
    "COMMAND...\n"
    "exit codes: 0 ok, 6 stopped on request, 7 escalated, 64 usage\n";

struct Supervision {
  NodePlace place{.ranks = 0};
  std::string store;
  size_t failures = 3;
  std::chrono::milliseconds window = std::chrono::hours(1), grace = std::chrono::seconds(5);
  std::vector<std::string> command;
};

bool read_count(const std::string& text, auto* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_limit(const std::string& text, std::chrono::milliseconds* limit) {
  const auto parsed = parse_duration(text);
  if (parsed) *limit = *parsed;
  return parsed.has_value();
}

bool read_flag(const std::string& argument, Supervision* to) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = argument.substr(0, equals), value = argument.substr(equals + 1);
  if (name == "--ranks") return read_count(value, &to->place.ranks) && to->place.ranks > 0;
  if (name == "--failures") return read_count(value, &to->failures);
  if (name == "--window") return read_limit(value, &to->window);
  if (name == "--grace") return read_limit(value, &to->grace);
  if (name != "--store") return false;
  to->store = value;
  return !value.empty();
}

// Without RANK and WORLD_SIZE this is the only node.
bool read_place(NodePlace* place) {
  const char *node_text = std::getenv("RANK"), *nodes_text = std::getenv("WORLD_SIZE");
  int node = 0, nodes = 1;
  if (node_text && !read_count(node_text, &node)) return false;
  if (nodes_text && !read_count(nodes_text, &nodes)) return false;
  place->first_rank = node * place->ranks;
  place->world_size = nodes * place->ranks;
  return node >= 0 && node < nodes;
}

bool read_command_line(int argc, char** argv, Supervision* to) {
  const char* failures = std::getenv("TRAINER_FAILURES");
  if (failures && !read_count(failures, &to->failures)) return false;
  int next = 1;
  for (; next < argc && std::string(argv[next]) != "--"; ++next)
    if (!read_flag(argv[next], to)) return false;
  for (++next; next < argc; ++next) to->command.emplace_back(argv[next]);
  return to->place.ranks > 0 && !to->store.empty() && !to->command.empty() && read_place(&to->place);
}

// Failures that no restart can repair: the same command would fail in the same way.
bool is_final(int status) { return status == kExitUsage || status == kExitPreflight || status == 127; }

int supervise(const Supervision& job) {
  RestartWindow window(job.failures, job.window);
  std::error_code ignored;  // a failure shows in the ranks
  std::filesystem::create_directories(job.store, ignored);
  for (int attempt = 0;; ++attempt) {
    const std::string store = job.store + "/attempt-" + std::to_string(attempt);
    const RankProcessEnd end = NodeRanks(job.command, job.place, store).wait(job.grace);
    if (end.status == 0) return kExitOk;
    if (stop_requested() || end.status == kExitStopped) return kExitStopped;
    std::fprintf(stderr, "supervisor: attempt %d: rank %d failed with status %d\n", attempt, end.rank,
                 end.status);
    if (is_final(end.status) || !window.restart_after_failure(std::chrono::steady_clock::now())) {
      std::fprintf(stderr, "supervisor: escalating: %s\n",
                   is_final(end.status) ? "a restart does not cure that" : "the failure window is full");
      return kExitEscalated;
    }
  }
}

}  // namespace

}  // namespace trainer

int main(int argc, char** argv) {
  trainer::Supervision job;
  if (!trainer::read_command_line(argc, argv, &job)) {
    std::fputs(trainer::kSupervisorUsage, stderr);
    return trainer::kExitUsage;
  }
  trainer::take_stop_requests(false);
  return trainer::supervise(job);
}
