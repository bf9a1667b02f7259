#include "harness/commands/job_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <regex>
#include <set>

#include "harness/commands/launcher_options.h"
#include "harness/launch/launcher.h"
#include "harness/scenario/one_line.h"

namespace rankfault {
namespace {

std::string base_name(const std::string& word) { return word.substr(word.rfind('/') + 1); }

bool is_one_of(const std::string& word, const std::set<std::string>& known) { return known.count(word) != 0; }

bool is_mpirun(const std::string& word) {
  return is_one_of(base_name(word), {"mpirun", "mpiexec", "orterun", "prterun", "mpirun.openmpi",
                                     "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra"});
}

// The number of words of "torchrun" or "python -m torch.distributed.run"; 0: the command is neither.
size_t torchrun_words(const Words& command) {
  if (base_name(command[0]) == "torchrun") return 1;
  const bool python = std::regex_match(base_name(command[0]), std::regex("python[0-9.]*"));
  if (python && command.size() > 2 && command[1] == "-m" &&
      is_one_of(command[2], {"torch.distributed.run", "torch.distributed.launch"}))
    return 3;
  return 0;
}

Result<int> rank_count(const std::optional<std::string>& written, int given, const char* option) {
  if (!written && given != kRanksNotGiven) return given;
  if (!written)
    return usage_error(
        fmt::format("the number of ranks is missing: write {} N, or give rankfault --ranks N", option));
  int value = 0;
  const auto [end, status] = std::from_chars(written->data(), written->data() + written->size(), value);
  if (status == std::errc() && *end == 0 && value >= 1) {
    if (given == kRanksNotGiven || given == value) return value;
    return usage_error(fmt::format("--ranks {} and {} {} differ", given, option, value));
  }
  if (given != kRanksNotGiven) return given;
  return usage_error(
      fmt::format("{} {} is not a number of ranks: give rankfault --ranks N", option, *written));
}

Result<Workload> mpirun_workload(const Words& command, int given) {
  if (std::find(command.begin(), command.end(), ":") != command.end())
    return usage_error("rankfault cannot watch several programs under one mpirun (\":\")");
  const Result<Split> words = split(command, 1, mpirun_grammar(), {"n", "np", "c"}, true);
  if (!words) return words.error();
  const Result<int> ranks = rank_count(words->ranks, given, "-np");
  if (!ranks) return ranks.error();
  Workload out;
  out.launcher = LauncherKind::kMpirun;
  out.ranks = *ranks;
  if (command[0] != "mpirun") out.mpirun = command[0];
  out.launcher_args = words->launcher_args;
  out.command = words->program;
  return out;
}

std::optional<int> number_of(const std::string& text) {
  int value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

// The value of the last of these options; what srun takes from its environment otherwise.
std::optional<int> srun_number(const Words& args, const std::set<std::string>& names, const char* variable) {
  std::optional<std::string> found;
  for (size_t i = 0; i < args.size(); ++i) {
    const LauncherOption option = option_of(args[i]);
    if (!is_option(args[i]) || !names.count(option.name)) continue;
    if (option.value)
      found = *option.value;
    else if (i + 1 < args.size())
      found = args[i + 1];
  }
  if (const char* of_allocation = std::getenv(variable); !found && of_allocation) found = of_allocation;
  return found ? number_of(*found) : std::nullopt;
}

// Returns the number of tasks that srun starts. Its default is one task on each node.
int srun_tasks(const Words& args) {
  if (const auto tasks = srun_number(args, {"n", "ntasks"}, "SLURM_NTASKS")) return *tasks;
  const int nodes = srun_number(args, {"N", "nodes"}, "SLURM_NNODES").value_or(1);
  return nodes * srun_number(args, {"ntasks-per-node"}, "SLURM_NTASKS_PER_NODE").value_or(1);
}

// Each task may be a torchrun, which starts several ranks.
Result<int> ranks_of_a_task(const Words& program) {
  const size_t words = torchrun_words(program);
  if (words == 0) return 1;
  const Result<Split> inner = split(program, words, torchrun_grammar(), {"nproc-per-node"}, false);
  if (!inner) return inner.error();
  return inner->ranks ? number_of(*inner->ranks).value_or(1) : 1;
}

Result<Workload> srun_workload(const Words& given_words, int given) {
  const Words command = with_short_values_apart(given_words, 1, srun_grammar());
  const Result<Split> words = split(command, 1, srun_grammar(), {}, false);
  if (!words) return words.error();
  for (const std::string& word : words->launcher_args)
    if (is_option(word) && (option_of(word).name == "multi-prog" || option_of(word).name == "pty"))
      return usage_error(fmt::format("rankfault cannot watch srun {}", word));
  if (std::find(words->program.begin(), words->program.end(), ":") != words->program.end())
    return usage_error("rankfault cannot watch several programs under one srun (\":\")");
  const Result<int> each = ranks_of_a_task(words->program);
  if (!each) return each.error();
  Workload out;
  out.launcher = LauncherKind::kSlurm;
  out.ranks = given != kRanksNotGiven ? given : srun_tasks(words->launcher_args) * *each;
  if (command[0] != "srun") out.mpirun = command[0];
  out.launcher_args = words->launcher_args;
  out.command = words->program;
  return out;
}

Result<Workload> torchrun_workload(const Words& command, size_t from, int given) {
  const Result<Split> words = split(command, from, torchrun_grammar(), {"nproc-per-node"}, false);
  if (!words) return words.error();
  for (size_t i = 0; i < words->launcher_args.size(); ++i) {
    const LauncherOption option = option_of(words->launcher_args[i]);
    if (!is_option(words->launcher_args[i]) || option.name != "nnodes") continue;
    const std::string nodes = option.value                          ? *option.value
                              : i + 1 < words->launcher_args.size() ? words->launcher_args[i + 1]
                                                                    : "";
    if (nodes != "1" && nodes != "1:1")
      return usage_error("rankfault cannot watch a job of several hosts: --nnodes must be 1");
  }
  const bool said = words->ranks.has_value();
  Result<int> ranks = said || given != kRanksNotGiven ? rank_count(words->ranks, given, "--nproc-per-node")
                                                      : Result<int>(1);  // torchrun's own default
  if (!ranks) return ranks.error();
  Workload out;
  out.launcher = LauncherKind::kTorchrun;
  out.ranks = *ranks;
  // The program that the shell would start. A scenario uses the torchrun of RANKFAULT_PYTHON instead.
  const bool by_name = command[0].find('/') == std::string::npos;
  out.torchrun = by_name ? program_on_path(command[0]) : command[0];
  out.launcher_args = words->launcher_args;
  out.command = words->program;
  return out;
}

}  // namespace

Result<Workload> workload_of(const Words& command, int ranks) {
  if (command.empty() || command[0].empty()) return usage_error("the command is missing: write it after --");
  if (ranks < 0) return usage_error(fmt::format("--ranks must be at least 1, not {}", ranks));
  if (is_mpirun(command[0])) return mpirun_workload(command, ranks);
  if (const size_t words = torchrun_words(command)) return torchrun_workload(command, words, ranks);
  if (base_name(command[0]) == "srun") return srun_workload(command, ranks);
  if (is_one_of(base_name(command[0]), {"salloc", "sbatch", "qsub", "bsub", "jsrun", "aprun", "ssh"}))
    return usage_error(fmt::format(
        "{} starts processes that rankfault cannot reach: watch srun, mpirun, torchrun or a program "
        "on this machine",
        command[0]));
  Workload out;
  out.launcher = ranks == kRanksNotGiven ? LauncherKind::kCommand : LauncherKind::kLocal;
  out.ranks = std::max(ranks, 1);  // a command has at least one; its ranks tell how many there are
  out.command = command;
  return out;
}

Result<Scenario> watched_scenario(const Words& command, int ranks, const std::string& wall) {
  const Result<Workload> workload = workload_of(command, ranks);
  if (!workload) return workload.error();
  Result<Scenario> scenario =
      scenario_from_command_line(workload->ranks, "", {}, {"blamed: {kind: none}"}, workload->command, wall);
  if (!scenario) return scenario.error();
  scenario->name = "watch";
  scenario->workload.launcher = workload->launcher;
  scenario->workload.mpirun = workload->mpirun;
  scenario->workload.torchrun = workload->torchrun;
  scenario->workload.launcher_args = workload->launcher_args;
  return scenario;
}

}  // namespace rankfault
