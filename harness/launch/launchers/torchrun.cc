// torchrun: PyTorch's elastic launcher, as its users start it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>
#include <set>

#include "harness/agent/torch_versions.h"
#include "harness/launch/gather.h"
#include "harness/launch/launcher.h"
#include "harness/launch/launchers/torchrun_nodes.h"
#include "harness/launch/launchers/torchrun_program.h"

namespace rankfault {
namespace {

std::string found(const Workload& workload) {
  const TorchrunProgram& program = torchrun_program(workload);
  const std::string words = fmt::format("{}", fmt::join(program.words, " "));
  if (program.version.empty()) return words;
  return fmt::format(
      "{}, PyTorch {}{}{}", words, program.version, program.old_abi ? " for the older C++ ABI" : "",
      program.records_calls() ? "" : ": its calls are not recorded, only those of " RF_TORCH_VERSIONS);
}

std::string log_dir(const LaunchContext& context) {
  return fmt::format("{}/torchrun.a{}", context.run.logs(), context.attempt);
}

std::string node_log(const LaunchContext& context, int node) {
  const std::string first = launcher_log(context.run, context.attempt);
  return node == 0 ? first
                   : fmt::format("{}/launcher.a{}.node{}.log", context.run.logs(), context.attempt, node);
}

// Options are spelled with underscores, which every version of torchrun accepts; only PyTorch 2 accepts
// dashes.
std::vector<std::string> options_of_one(const LaunchContext& context) {
  const Workload& workload = context.plan.scenario.workload;
  const auto& own = workload.launcher_args;
  std::vector<std::string> words;
  if (!context.watched() &&
      !mentions(own, {"--standalone", "--rdzv-backend", "--rdzv-endpoint", "--nnodes", "--master-port"}))
    words.push_back("--standalone");  // a free port of its own
  if (!mentions(own, {"--nproc-per-node"}))
    words.push_back(fmt::format("--nproc_per_node={}", workload.ranks));
  if (!mentions(own, {"--log-dir"})) words.push_back("--log_dir=" + log_dir(context));
  words.insert(words.end(), own.begin(), own.end());
  return words;
}

std::vector<std::string> launcher_words(const LaunchContext& context,
                                        const std::vector<std::string>& options) {
  const Workload& workload = context.plan.scenario.workload;
  const auto& own = workload.launcher_args;
  const TorchrunProgram& program = torchrun_program(workload);
  std::vector<std::string> argv = program.words;
  if (!mentions(own, {"--redirects", "--tee", "-r", "-t"})) {
    if (program.is_pytorch_1())  // 1.13 crashes on Python 3.11 unless each stream is named once
      argv.insert(argv.end(), {"--redirects=2", "--tee=1"});
    else
      argv.push_back("--redirects=3");
  }
  for (const std::string& word : options) argv.push_back(expand(word, context, -1));
  const bool skip_first = workload.command.size() > 1 && is_python(workload.command[0]) &&
                          !mentions(workload.launcher_args, {"--no-python"});
  for (size_t i = skip_first ? 1 : 0; i < workload.command.size(); ++i)
    argv.push_back(expand(workload.command[i], context, -1));
  return argv;
}

LaunchItem start_one(const LaunchContext& context, const std::vector<std::string>& options, int node) {
  LaunchItem item;
  item.ends_all = true;
  Command& command = item.command;
  command.argv = launcher_words(context, options);
  command.cwd = expand(context.plan.scenario.workload.cwd, context, -1);
  command.env = job_environment(context, -1);
  for (auto& [name, value] : agent_environment(context)) command.env[name] = value;
  if (!context.watched())
    command.env.emplace("OMP_NUM_THREADS", "1");  // what torchrun would set, without its warning
  command.stdout_path = command.stderr_path = node_log(context, node);
  return item;
}

Result<std::vector<LaunchItem>> nodes(const LaunchContext& context) {
  const Workload& workload = context.plan.scenario.workload;
  if (Status right = check_node_arguments(workload); !right) return right.error();
  const Result<MeetingPlace> place =
      context.run.is_planned() ? Result<MeetingPlace>(MeetingPlace{}) : meeting_place();
  if (!place) return place.error();
  std::vector<LaunchItem> items;
  for (int node = 0; node < workload.nodes; ++node) {
    const std::string folder = fmt::format("{}/node{}", log_dir(context), node);
    make_folder(context, folder);
    items.push_back(start_one(context, node_words(workload, *place, node, folder), node));
    items.back().holds = place->held;
    auto& env = items.back().command.env;
    env["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1";  // an attempt is identified by the address of its store
    env["RANKFAULT_RENDEZVOUS"] = "1";
  }
  return items;
}

Result<std::vector<LaunchItem>> items(const LaunchContext& context) {
  make_store(context);
  if (context.plan.scenario.workload.nodes > 1) return nodes(context);
  make_folder(context, log_dir(context));
  return std::vector<LaunchItem>{start_one(context, options_of_one(context), 0)};
}

ExitStatus as_status(int exitcode) {
  if (exitcode < 0) return {ExitStatus::Kind::kSignal, -exitcode};
  return {ExitStatus::Kind::kCode, exitcode};
}

// One line when a group of workers fails (one group for each restart), and the report of the last group.
std::vector<ReportedEnd> read_report(const std::string& text) {
  std::vector<ReportedEnd> ends;
  std::set<int> pids;
  int restart = -1;
  const std::regex first(R"(failed \(exitcode: (-?\d+)\) local_rank: (\d+) \(pid: (\d+)\))");
  for (std::sregex_iterator it(text.begin(), text.end(), first), none; it != none; ++it) {
    ends.push_back({std::stoi((*it)[2]), std::stoi((*it)[3]), ++restart, as_status(std::stoi((*it)[1]))});
    pids.insert(ends.back().pid);
  }
  const std::regex each(R"(rank\s*: (\d+) \(local_rank: \d+\)\s*exitcode\s*: (-?\d+) \(pid: (\d+)\))");
  for (std::sregex_iterator it(text.begin(), text.end(), each), none; it != none; ++it)
    if (const int pid = std::stoi((*it)[3]); pids.insert(pid).second)
      ends.push_back({std::stoi((*it)[1]), pid, std::max(restart, 0), as_status(std::stoi((*it)[2]))});
  return ends;
}

// Each node counts restarts and ranks separately: only the pid means the same on all nodes.
std::vector<ReportedEnd> reported(const LaunchContext& context, const ExitStatus&) {
  const int nodes = context.plan.scenario.workload.nodes;
  if (nodes == 1) return read_report(read_text(node_log(context, 0)));
  std::vector<ReportedEnd> all;
  for (int node = 0; node < nodes; ++node)
    for (ReportedEnd end : read_report(read_text(node_log(context, node)))) {
      end.rank = end.attempt = -1;
      all.push_back(end);
    }
  return all;
}

Status collect_logs(const LaunchContext& context) {
  if (context.plan.scenario.workload.nodes > 1) return collect_node_logs(context, log_dir(context));
  const std::regex place(R"(.*/attempt_(\d+)/(\d+)$)");
  for (const std::string& folder : files_matching(log_dir(context) + "/*/attempt_*/*")) {
    std::smatch match;
    if (!std::regex_match(folder, match, place)) continue;
    const std::string log = rank_log(context.run, std::stoi(match[2]), context.attempt + std::stoi(match[1]));
    if (Status done = gather({folder + "/stdout.log", folder + "/stderr.log"}, log); !done.ok()) return done;
  }
  return Done{};
}

const Registration<Launcher> registration{{
    .name = "torchrun",
    .summary = "PyTorch's torchrun on this machine",
    .restarts_ranks = true,
    .probe = torch_needs_met,
    .found = found,
    .items = items,
    .reported = reported,
    .collect_logs = collect_logs,
}};

}  // namespace
}  // namespace rankfault
