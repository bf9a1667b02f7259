// node: `rankfault node`: the guardian of one node of a job of several hosts. rankfault-task starts it; it
// takes all from the environment (harness/launch/task_environment.h).
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "harness/base/host_name.h"
#include "harness/commands/command.h"
#include "harness/commands/interrupt.h"
#include "harness/launch/task_environment.h"
#include "harness/node_guardian/node_guardian.h"

namespace rankfault {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string name_of_node() {
  if (const std::string node = variable("SLURMD_NODENAME"); !node.empty()) return node;
  return host_name();
}

// SLURM_STEP_TASKS_PER_NODE is "2(x3),1": nodes 0 to 2 have two tasks, node 3 has one. 0: not known.
int tasks_on_node() {
  std::istringstream groups(variable("SLURM_STEP_TASKS_PER_NODE"));
  int node = std::atoi(variable("SLURM_NODEID").c_str());
  for (std::string group; std::getline(groups, group, ',');) {
    int tasks = 0, nodes = 1;
    if (std::sscanf(group.c_str(), "%d(x%d)", &tasks, &nodes) < 1) return 0;
    if (node < nodes) return tasks;
    node -= nodes;
  }
  return 0;
}

// The tasks wait for the socket of the guardian, or for this file.
int refuse(const std::string& dir, const Error& error) {
  fmt::print(stderr, "{}\n", error.to_string());
  std::fflush(stderr);
  if (!dir.empty() && std::filesystem::is_directory(dir)) {
    std::FILE* refused = std::fopen((dir + "/refused").c_str(), "we");
    if (refused) std::fclose(refused);
  }
  return exit_of(error);
}

int guard_node(int root) {
  const std::string dir = variable(RF_TASK_DIR);
  const auto key = RunKey::from_hex(variable(RF_TASK_KEY));
  NodeGuardianOptions options{
      dir, "", 0, key ? *key : RunKey::fresh(), name_of_node(), root, tasks_on_node(), catch_interrupts()};
  std::istringstream(variable(RF_TASK_TOOL)) >> options.host >> options.port;
  if (dir.empty() || !key || options.port <= 0)
    return refuse(dir, usage_error("rankfault node is started by rankfault, not by hand"));
  ::unsetenv(RF_TASK_KEY);
  Result<std::unique_ptr<NodeGuardian>> guardian = NodeGuardian::start(std::move(options));
  if (!guardian) return refuse(dir, guardian.error());
  (*guardian)->run();
  return kExitPass;
}

const Registration<CliCommand> kNode{{
    "node",
    "Guard one node of a job of several hosts (rankfault-task starts it)",
    "It keeps the flight records of the node's ranks and sends them to the rankfault that watches the job.\n"
    "Exit status: 0, or 64 when it is started by hand.",
    [](CLI::App& app) {
      auto root = std::make_shared<int>(0);
      app.add_option("root", *root, "the pid of the parent of all tasks");
      return [root] { return guard_node(*root); };
    },
}};

}  // namespace
}  // namespace rankfault
