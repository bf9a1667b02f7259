// job_words: see job_words.h.
#include "harness/commands/job_words.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

namespace rankfault {
namespace {

using Words = std::vector<std::string>;

std::string base_name(const std::string& word) { return word.substr(word.rfind('/') + 1); }

bool is_one_of(const std::string& word, const std::set<std::string>& known) { return known.count(word) != 0; }

bool is_mpirun(const std::string& word) {
  return is_one_of(base_name(word),
                   {"mpirun", "mpiexec", "orterun", "prterun", "mpirun.openmpi", "mpiexec.openmpi"});
}

// "torchrun", "python -m torch.distributed.run": how many words that is; 0: it is neither.
size_t torchrun_words(const Words& command) {
  if (base_name(command[0]) == "torchrun") return 1;
  const bool python = std::regex_match(base_name(command[0]), std::regex("python[0-9.]*"));
  if (python && command.size() > 2 && command[1] == "-m" &&
      is_one_of(command[2], {"torch.distributed.run", "torch.distributed.launch"}))
    return 3;
  return 0;
}

// An option of the launcher without its dashes, and spelled in one way: "--nproc_per_node=4" is
// "nproc-per-node".
struct Option {
  std::string name;
  std::optional<std::string> value;  // behind "="
};
Option option_of(const std::string& word) {
  Option out;
  const size_t equals = word.find('=');
  out.name = word.substr(word.find_first_not_of('-'),
                         equals == std::string::npos ? equals : equals - word.find_first_not_of('-'));
  std::replace(out.name.begin(), out.name.end(), '_', '-');
  if (equals != std::string::npos) out.value = word.substr(equals + 1);
  return out;
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word.find_first_not_of('-') != std::string::npos;
}

// How many words follow an option as its values. What is not known here has none when a program or another
// option follows it.
struct Grammar {
  std::set<std::string> one, two, none;
};

const Grammar& mpirun_grammar() {
  static const Grammar grammar{{"n",
                                "np",
                                "c",
                                "H",
                                "host",
                                "hostfile",
                                "machinefile",
                                "map-by",
                                "bind-to",
                                "rank-by",
                                "wdir",
                                "wd",
                                "x",
                                "output",
                                "output-filename",
                                "display",
                                "prefix",
                                "timeout",
                                "tune",
                                "am",
                                "app",
                                "rf",
                                "rankfile",
                                "cpu-set",
                                "cpu-list",
                                "npernode",
                                "N",
                                "npersocket",
                                "ppr",
                                "personality",
                                "with-ft",
                                "stdin",
                                "path",
                                "default-hostfile",
                                "dvm",
                                "runtime-options",
                                "pmca-file",
                                "xterm",
                                "max-restarts",
                                "preload-files",
                                "slot-list",
                                "cpus-per-proc",
                                "report-pid",
                                "report-uri",
                                "show-progress-interval",
                                "launch-agent",
                                "forward-signals",
                                "gpu-support"},
                               {"mca", "gmca", "pmixmca", "prtemca", "omca"},
                               {"oversubscribe",
                                "nooversubscribe",
                                "allow-run-as-root",
                                "tag-output",
                                "timestamp-output",
                                "q",
                                "v",
                                "d",
                                "enable-recovery",
                                "disable-recovery",
                                "report-bindings",
                                "display-map",
                                "display-allocation",
                                "bynode",
                                "byslot",
                                "bind-to-core",
                                "bind-to-none",
                                "merge-stderr-to-stdout",
                                "use-hwthread-cpus",
                                "nolocal",
                                "do-launch"}};
  return grammar;
}

const Grammar& torchrun_grammar() {
  static const Grammar grammar{
      {"nnodes",
       "nproc-per-node",
       "rdzv-backend",
       "rdzv-endpoint",
       "rdzv-id",
       "rdzv-conf",
       "max-restarts",
       "monitor-interval",
       "start-method",
       "role",
       "log-dir",
       "r",
       "redirects",
       "t",
       "tee",
       "local-ranks-filter",
       "node-rank",
       "master-addr",
       "master-port",
       "local-addr",
       "logs-specs",
       "event-log-handler",
       "numa-binding",
       "signals-to-handle",
       "shutdown-timeout"},
      {},
      {"standalone", "m", "module", "no-python", "run-path", "use-env", "virtual-local-rank"}};
  return grammar;
}

bool is_program(const std::string& word) {
  if (word.find('/') != std::string::npos) return std::filesystem::is_regular_file(word);
  std::stringstream folders(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + word).c_str(), X_OK) == 0) return true;
  return std::filesystem::is_regular_file(word);
}

size_t values_of(const Grammar& grammar, const Option& option, const std::string* next) {
  if (option.value || grammar.none.count(option.name)) return 0;
  if (grammar.two.count(option.name)) return 2;
  if (grammar.one.count(option.name)) return 1;
  return !next || is_option(*next) || is_program(*next) ? 0 : 1;
}

struct Split {
  Words launcher_args, program;
  std::optional<std::string> ranks;  // as written
};

// The launcher's words end where its first word stands that is neither an option nor the value of one.
// `rank_options` are taken out: the launcher that rankfault uses says them itself.
Result<Split> split(const Words& words, size_t from, const Grammar& grammar,
                    const std::set<std::string>& rank_options, bool take_out) {
  Split out;
  size_t i = from;
  while (i < words.size() && is_option(words[i])) {
    const Option option = option_of(words[i]);
    const size_t values = values_of(grammar, option, i + 1 < words.size() ? &words[i + 1] : nullptr);
    if (i + values >= words.size())
      return usage_error(fmt::format("{} wants {} more word{}", words[i], values, values == 1 ? "" : "s"));
    const bool is_ranks = rank_options.count(option.name) != 0;
    if (is_ranks) out.ranks = option.value ? *option.value : words[i + 1];
    if (!is_ranks || !take_out)
      out.launcher_args.insert(out.launcher_args.end(), words.begin() + static_cast<std::ptrdiff_t>(i),
                               words.begin() + static_cast<std::ptrdiff_t>(i + values + 1));
    i += values + 1;
  }
  out.program.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  if (out.program.empty()) return usage_error(fmt::format("{}: no program follows its options", words[0]));
  return out;
}

Result<int> rank_count(const std::optional<std::string>& written, int given, const char* option) {
  if (!written && given != kRanksNotGiven) return given;
  if (!written)
    return usage_error(fmt::format("how many ranks? Say {} N, or --ranks N to rankfault", option));
  int value = 0;
  const auto [end, status] = std::from_chars(written->data(), written->data() + written->size(), value);
  if (status == std::errc() && *end == 0 && value >= 1) {
    if (given == kRanksNotGiven || given == value) return value;
    return usage_error(fmt::format("--ranks {} and {} {} are not the same", given, option, value));
  }
  if (given != kRanksNotGiven) return given;
  return usage_error(fmt::format("{} {} is no number: say --ranks N to rankfault", option, *written));
}

Result<Workload> mpirun_workload(const Words& command, int given) {
  if (std::find(command.begin(), command.end(), ":") != command.end())
    return usage_error("several programs under one mpirun (\":\") cannot be watched");
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

Result<Workload> torchrun_workload(const Words& command, size_t from, int given) {
  const Result<Split> words = split(command, from, torchrun_grammar(), {"nproc-per-node"}, false);
  if (!words) return words.error();
  for (size_t i = 0; i < words->launcher_args.size(); ++i) {
    const Option option = option_of(words->launcher_args[i]);
    if (!is_option(words->launcher_args[i]) || option.name != "nnodes") continue;
    const std::string nodes = option.value                          ? *option.value
                              : i + 1 < words->launcher_args.size() ? words->launcher_args[i + 1]
                                                                    : "";
    if (nodes != "1" && nodes != "1:1")
      return usage_error("a job of several hosts cannot be watched: --nnodes is 1");
  }
  const bool said = words->ranks.has_value();
  Result<int> ranks = said || given != kRanksNotGiven ? rank_count(words->ranks, given, "--nproc-per-node")
                                                      : Result<int>(1);  // torchrun's own default
  if (!ranks) return ranks.error();
  Workload out;
  out.launcher = LauncherKind::kTorchrun;
  out.ranks = *ranks;
  if (from == 3 || command[0].find('/') != std::string::npos) out.torchrun = command[0];
  out.launcher_args = words->launcher_args;
  out.command = words->program;
  return out;
}

}  // namespace

Result<Workload> workload_of(const Words& command, int ranks) {
  if (command.empty() || command[0].empty()) return usage_error("there is no command: write it after --");
  if (ranks < 0) return usage_error(fmt::format("--ranks is at least 1, not {}", ranks));
  if (is_mpirun(command[0])) return mpirun_workload(command, ranks);
  if (const size_t words = torchrun_words(command)) return torchrun_workload(command, words, ranks);
  if (ranks == kRanksNotGiven)
    return usage_error(
        fmt::format("{} is no launcher that is known here (mpirun, torchrun): say --ranks N to start it "
                    "N times",
                    command[0]));
  Workload out;
  out.ranks = ranks;
  out.command = command;
  return out;
}

}  // namespace rankfault
