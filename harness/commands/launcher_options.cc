#include "harness/commands/launcher_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace rankfault {

LauncherOption option_of(const std::string& word) {
  LauncherOption out;
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

const Grammar& mpirun_grammar() {
  static const Grammar grammar{
      {"n", "np", "c", "H", "host", "hostfile", "machinefile", "map-by", "bind-to", "rank-by", "wdir", "wd",
       "x", "output", "output-filename", "display", "prefix", "timeout", "tune", "am", "app", "rf",
       "rankfile", "cpu-set", "cpu-list", "npernode", "N", "npersocket", "ppr", "personality", "with-ft",
       "stdin", "path", "default-hostfile", "dvm", "runtime-options", "pmca-file", "xterm", "max-restarts",
       "preload-files", "slot-list", "cpus-per-proc", "report-pid", "report-uri", "show-progress-interval",
       "launch-agent", "forward-signals", "gpu-support",
       // Hydra, the launcher of MPICH
       "f", "hosts", "configfile", "genvlist", "envlist", "launcher", "launcher-exec", "rmk", "topolib",
       "membind", "demux", "iface", "ppn", "prepend-pattern", "outfile-pattern", "errfile-pattern",
       "nameserver", "localhost", "usize", "order-nodes", "gpus-per-proc", "rankmap", "memory-alloc-kinds"},
      {"mca", "gmca", "pmixmca", "prtemca", "omca", "genv", "env"},
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
       "do-launch",
       "genvnone",
       "genvall",
       "envnone",
       "envall",
       "l",
       "prepend-rank",
       "verbose",
       "info",
       "print-all-exitcodes",
       "profile",
       "disable-auto-cleanup",
       "disable-hostname-propagation",
       "skip-launch-node",
       "hybrid-hosts"}};
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

const Grammar& srun_grammar() {
  static const Grammar grammar{{"A",
                                "account",
                                "acctg-freq",
                                "a",
                                "array",
                                "B",
                                "extra-node-info",
                                "bb",
                                "bbf",
                                "b",
                                "begin",
                                "bcast-exclude",
                                "c",
                                "cpus-per-task",
                                "C",
                                "constraint",
                                "chdir",
                                "D",
                                "cluster-constraint",
                                "M",
                                "clusters",
                                "comment",
                                "compress-lib",
                                "container",
                                "container-id",
                                "context",
                                "core-spec",
                                "S",
                                "cores-per-socket",
                                "cpu-bind",
                                "cpu-freq",
                                "cpus-per-gpu",
                                "d",
                                "dependency",
                                "delay-boot",
                                "deadline",
                                "m",
                                "distribution",
                                "e",
                                "error",
                                "epilog",
                                "x",
                                "exclude",
                                "export",
                                "gid",
                                "G",
                                "gpu-bind",
                                "gpu-freq",
                                "gpus",
                                "gpus-per-node",
                                "gpus-per-socket",
                                "gpus-per-task",
                                "gres",
                                "gres-flags",
                                "het-group",
                                "hint",
                                "i",
                                "input",
                                "J",
                                "job-name",
                                "jobid",
                                "L",
                                "licenses",
                                "mail-type",
                                "mail-user",
                                "mcs-label",
                                "mem",
                                "mem-bind",
                                "mem-per-cpu",
                                "mem-per-gpu",
                                "mincpus",
                                "mpi",
                                "msg-timeout",
                                "multi-prog-file",
                                "network",
                                "nice",
                                "N",
                                "nodes",
                                "nodefile",
                                "F",
                                "nodelist",
                                "w",
                                "n",
                                "ntasks",
                                "ntasks-per-core",
                                "ntasks-per-gpu",
                                "ntasks-per-node",
                                "ntasks-per-socket",
                                "open-mode",
                                "o",
                                "output",
                                "p",
                                "partition",
                                "power",
                                "prefer",
                                "priority",
                                "profile",
                                "prolog",
                                "q",
                                "qos",
                                "r",
                                "relative",
                                "reservation",
                                "resv-ports",
                                "signal",
                                "slurmd-debug",
                                "sockets-per-node",
                                "switches",
                                "task-epilog",
                                "task-prolog",
                                "thread-spec",
                                "threads",
                                "threads-per-core",
                                "t",
                                "time",
                                "time-min",
                                "tmp",
                                "tree-width",
                                "tres-bind",
                                "tres-per-task",
                                "uid",
                                "W",
                                "wait",
                                "wckey",
                                "send-libs",
                                "step-id"},
                               {},
                               {"K",
                                "kill-on-bad-exit",
                                "l",
                                "label",
                                "u",
                                "unbuffered",
                                "v",
                                "verbose",
                                "Q",
                                "quiet",
                                "X",
                                "disable-status",
                                "O",
                                "overcommit",
                                "s",
                                "oversubscribe",
                                "overlap",
                                "exact",
                                "exclusive",
                                "E",
                                "preserve-env",
                                "k",
                                "no-kill",
                                "H",
                                "hold",
                                "Z",
                                "no-allocate",
                                "contiguous",
                                "pty",
                                "multi-prog",
                                "spread-job",
                                "use-min-nodes",
                                "whole",
                                "I",
                                "immediate",
                                "bcast",
                                "compress",
                                "debugger-test",
                                "no-requeue",
                                "interactive",
                                "reboot",
                                "wait-all-nodes"}};
  return grammar;
}

Words with_short_values_apart(const Words& words, size_t from, const Grammar& grammar) {
  Words apart(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(from));
  size_t i = from;
  while (i < words.size() && is_option(words[i])) {
    const std::string& word = words[i++];
    const LauncherOption option = option_of(word);
    if (word[1] != '-' && word.size() > 2 && grammar.one.count(word.substr(1, 1))) {
      apart.push_back(word.substr(0, 2));
      apart.push_back(word.substr(2));
      continue;
    }
    apart.push_back(word);
    if (grammar.one.count(option.name) && !option.value && i < words.size()) apart.push_back(words[i++]);
  }
  apart.insert(apart.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  return apart;
}

namespace {

bool is_program(const std::string& word) {
  if (word.find('/') != std::string::npos) return std::filesystem::is_regular_file(word);
  const char* const path = std::getenv("PATH");
  std::stringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + word).c_str(), X_OK) == 0) return true;
  return std::filesystem::is_regular_file(word);
}

size_t values_of(const Grammar& grammar, const LauncherOption& option, const std::string* next) {
  if (option.value || grammar.none.count(option.name)) return 0;
  if (grammar.two.count(option.name)) return 2;
  if (grammar.one.count(option.name)) return 1;
  return !next || is_option(*next) || is_program(*next) ? 0 : 1;
}

}  // namespace

Result<Split> split(const Words& words, size_t from, const Grammar& grammar,
                    const std::set<std::string>& rank_options, bool take_out) {
  Split out;
  size_t i = from;
  while (i < words.size() && is_option(words[i])) {
    const LauncherOption option = option_of(words[i]);
    const size_t values = values_of(grammar, option, i + 1 < words.size() ? &words[i + 1] : nullptr);
    if (i + values >= words.size())
      return usage_error(
          fmt::format("{} needs {} more argument{}", words[i], values, values == 1 ? "" : "s"));
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

}  // namespace rankfault
