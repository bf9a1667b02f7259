// local: N processes, started by the guardian itself, distinguished by RANK.
#include "harness/launch/launcher.h"
#include "harness/launch/start_faults.h"

namespace rankfault {
namespace {

Result<std::vector<LaunchItem>> items(const LaunchContext& context) {
  const Workload& workload = context.plan.scenario.workload;
  make_store(context);
  std::vector<LaunchItem> result;
  for (int rank = 0; rank < workload.ranks; ++rank) {
    LaunchItem item;
    item.rank = rank;
    Command& command = item.command;
    for (const std::string& word : workload.command) command.argv.push_back(expand(word, context, rank));
    command.cwd = expand(workload.cwd, context, rank);
    command.env = job_environment(context, rank);
    for (auto& [name, value] : agent_environment(context)) command.env[name] = value;
    command.env["RANK"] = command.env["LOCAL_RANK"] = std::to_string(rank);
    command.env["WORLD_SIZE"] = command.env["LOCAL_WORLD_SIZE"] = std::to_string(workload.ranks);
    command.env["RANKFAULT_ATTEMPT"] = std::to_string(context.attempt);
    command.stdout_path = command.stderr_path = rank_log(context.run, rank, context.attempt);
    result.push_back(std::move(item));
  }
  start_otherwise(context, result);
  return result;
}

const Registration<Launcher> registration{{
    .name = "local",
    .summary = "N processes on this machine, without a launcher program",
    .restarts_ranks = false,
    .probe = [](const Workload&) -> Status { return Done{}; },
    .found =
        [](const Workload&) { return std::string("processes of this machine, without a launcher program"); },
    .items = items,
    .reported = [](const LaunchContext&, const ExitStatus&) { return std::vector<ReportedEnd>{}; },
    .collect_logs = [](const LaunchContext&) -> Status { return Done{}; },
}};

}  // namespace
}  // namespace rankfault
