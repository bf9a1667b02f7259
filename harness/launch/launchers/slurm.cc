// slurm: srun, inside an allocation or with one of its own. Each task gets a parent, rankfault-task, which
// tells the guardian of its node (harness/node_guardian).
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/capture.h"
#include "harness/launch/launcher.h"
#include "harness/launch/task_words.h"

namespace rankfault {
namespace {

std::string srun_of(const Workload& workload) { return workload.mpirun.empty() ? "srun" : workload.mpirun; }

// "slurm-wlm 22.05.8"; "" when it does not answer.
std::string version_of(const std::string& srun) {
  const auto text = capture({srun, "--version"}, {probe_limit(), false, nullptr});
  return text ? text->substr(0, text->find('\n')) : "";
}

Status probe(const Workload& workload) {
  const std::string srun = srun_of(workload);
  if (program_on_path(srun).empty())
    return missing(srun + " is not on PATH (to add it: apt-get install slurm-client)");
  if (version_of(srun).empty()) return missing(srun + " does not print its version");
  // Without a controller srun waits for minutes.
  const auto state = capture({"scontrol", "ping"}, {probe_limit(), true, nullptr});
  if (!state || state->find(" is UP") == std::string::npos)
    return missing("no controller of Slurm answers here: scontrol ping");
  return Done{};
}

std::string found(const Workload& workload) {
  const std::string srun = srun_of(workload);
  return fmt::format("{}, {}", program_on_path(srun), version_of(srun));
}

// With this option srun ends all tasks when one ended badly. The default of a cluster may be another.
bool ends_all(const std::vector<std::string>& args) {
  return std::any_of(args.begin(), args.end(), [](const std::string& word) {
    return word == "-K" || word == "-K1" || word == "--kill-on-bad-exit" || word == "--kill-on-bad-exit=1";
  });
}

Result<std::vector<LaunchItem>> items(const LaunchContext& context) {
  const Workload& workload = context.plan.scenario.workload;
  LaunchItem item;
  item.ends_all = ends_all(workload.launcher_args);
  Command& command = item.command;
  command.argv = {srun_of(workload)};
  for (const std::string& word : workload.launcher_args) command.argv.push_back(expand(word, context, -1));
  command.env = job_environment(context, -1);
  if (has_task_parents(context)) {
    add_task_environment(context, command.env);
    command.argv.push_back(task_program(context));
  }
  for (const std::string& word : workload.command) command.argv.push_back(expand(word, context, -1));
  command.cwd = expand(workload.cwd, context, -1);
  command.stdout_path = command.stderr_path = launcher_log(context.run, context.attempt);
  return std::vector<LaunchItem>{std::move(item)};
}

const Registration<Launcher> registration{{
    .name = "slurm",
    .summary = "Slurm's srun, on several nodes; faults act there in calls, or are signals",
    .restarts_ranks = true,
    .spans_nodes = [](const Workload&) { return true; },
    .probe = probe,
    .found = found,
    .items = items,
    .reported = [](const LaunchContext&, const ExitStatus&) { return std::vector<ReportedEnd>{}; },
    .collect_logs = [](const LaunchContext&) -> Status { return Done{}; },
}};

}  // namespace
}  // namespace rankfault
