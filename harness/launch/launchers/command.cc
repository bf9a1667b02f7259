// command: one command that starts its ranks itself, such as a shell script or a program that forks. A
// process is a rank once it says so, to its library or by a launcher's variables.
#include <filesystem>
#include <map>
#include <set>

#include "harness/launch/gather.h"
#include "harness/launch/launcher.h"
#include "harness/launch/rank_output.h"

namespace rankfault {
namespace {

Result<std::vector<LaunchItem>> items(const LaunchContext& context) {
  const Workload& workload = context.plan.scenario.workload;
  make_store(context);
  LaunchItem item;
  item.ends_all = true;  // it may: the diagnosis then doubts an end that the command may have caused
  Command& command = item.command;
  for (const std::string& word : workload.command) command.argv.push_back(expand(word, context, -1));
  command.cwd = expand(workload.cwd, context, -1);
  command.env = job_environment(context, -1);
  for (auto& [name, value] : agent_environment(context)) command.env[name] = value;
  command.stdout_path = command.stderr_path = launcher_log(context.run, context.attempt);
  return std::vector<LaunchItem>{std::move(item)};
}

// Most ranks write to the command's output. A rank whose output is a file of its own gets a log of its own.
Status collect_logs(const LaunchContext& context) {
  std::map<std::string, std::set<std::pair<int, int>>> writers;  // of a file: (rank, attempt)
  for (const RankOutput& output : rank_outputs(context.run.records()))
    if (output.attempt >= context.attempt) writers[output.file].emplace(output.rank, output.attempt);
  writers.erase(launcher_log(context.run, context.attempt));
  for (const auto& [file, ranks] : writers) {
    const auto [rank, attempt] = *ranks.begin();
    if (ranks.size() > 1 || !std::filesystem::is_regular_file(file)) continue;
    if (Status done = gather({file}, rank_log(context.run, rank, attempt)); !done.ok()) return done;
  }
  return Done{};
}

const Registration<Launcher> registration{{
    .name = "command",
    .summary = "One command that starts its ranks itself: a script, torch.multiprocessing, accelerate",
    .restarts_ranks = true,
    .probe = [](const Workload&) -> Status { return Done{}; },
    .found = [](const Workload&) { return std::string("any command that starts its ranks itself"); },
    .items = items,
    .reported = [](const LaunchContext&, const ExitStatus&) { return std::vector<ReportedEnd>{}; },
    .collect_logs = collect_logs,
}};

}  // namespace
}  // namespace rankfault
