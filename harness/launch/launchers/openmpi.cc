// openmpi: the mpirun of Open MPI 4 and 5. -x passes the agent to the ranks.
#include <fmt/format.h>

#include <filesystem>
#include <regex>

#include "harness/launch/gather.h"
#include "harness/launch/launchers/mpi_implementation.h"

namespace rankfault {
namespace {

constexpr int kShellSignalBase = 128;  // mpirun exits with 128 + N for a rank that signal N ended

int version(const std::string& text) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(R"(\((?:Open MPI|OpenRTE)\) ([45])\.)"))) return 0;
  return std::stoi(match[1]);
}

void add_environment(const LaunchContext& context, const std::map<std::string, std::string>& agent,
                     std::vector<std::string>& argv) {
  for (const auto& [name, value] : context.plan.scenario.workload.env)
    if (name != "LD_PRELOAD") add(argv, {"-x", name});  // with its value in mpirun's own environment
  if (!context.run.job_tmpdir().empty()) add(argv, {"-x", "TMPDIR"});
  add(argv, {"-x", "RANKFAULT_JOB"});
  for (const auto& [name, value] : agent) add(argv, {"-x", fmt::format("{}={}", name, value)});
}

void add_choices(const std::vector<std::string>& own, int major, std::vector<std::string>& argv) {
  // 4.1.4 often ends without its final message (12 of 32 ranks killed at their start); these lines always
  // come.
  if (major == 4)
    add(argv, {"--oversubscribe", "--mca", "state_base_verbose", "1"});
  else if (!mentions(own, "--map-by"))
    add(argv, {"--map-by", ":OVERSUBSCRIBE"});
  if (!mentions(own, "--bind-to")) add(argv, {"--bind-to", "none"});  // two concurrent runs share the cores
  // Otherwise it tries an outside interface, and hangs in connect. Spawned processes meet over TCP.
  if (!mentions(own, "btl"))
    add(argv,
        {"--mca", "btl", major == 4 ? "self,vader,tcp" : "self,sm,tcp", "--mca", "btl_tcp_if_include", "lo"});
}

// One stream: 5.0.11 makes the rank's directory once for each stream, and fails at the second. Open MPI 4
// passes the option to its ranks in their environment, so a watched job does not get it and has all output in
// the launcher's.
void add_output(const LaunchContext& context, int major, std::vector<std::string>& argv) {
  const auto& own = context.plan.scenario.workload.launcher_args;
  const std::string output = mpirun_output_dir(context);
  if (major == 4 && !context.watched())
    add(argv, {"--merge-stderr-to-stdout", "--output-filename", output + ":nocopy"});
  if (major == 5 && !mentions(own, "--output") && !mentions(own, "--output-filename"))
    add(argv, {"--output", "merge-stderr-to-stdout,dir=" + output});
}

void options(const LaunchContext& context, int major, const std::map<std::string, std::string>& agent,
             std::vector<std::string>& argv) {
  if (!context.watched()) add_choices(context.plan.scenario.workload.launcher_args, major, argv);
  add_output(context, major, argv);
  add_environment(context, agent, argv);
}

// "-x NAME" has no value, so that other users do not read it in the list of processes.
void pass_on(const std::vector<std::string>& names, std::vector<std::string>& argv) {
  for (const std::string& name : names) add(argv, {"-x", name});
}

// The state lines of Open MPI 4 name the rank that failed first; mpirun's own exit repeats how it failed.
std::vector<ReportedEnd> first_failure(const std::string& text, int attempt, const ExitStatus& launcher) {
  std::smatch match;
  const std::regex state(
      R"(ACTIVATE PROC \[\[\d+,1\],(\d{1,9})\] STATE (ABORTED BY SIGNAL|EXITED WITH NON-ZERO))");
  if (launcher.kind != ExitStatus::Kind::kCode || !std::regex_search(text, match, state)) return {};
  ReportedEnd end{std::stoi(match[1]), 0, attempt, launcher};
  if (match[2] == "ABORTED BY SIGNAL") {
    if (launcher.value <= kShellSignalBase) return {};
    end.status = {ExitStatus::Kind::kSignal, launcher.value - kShellSignalBase};
  }
  return {end};
}

// The final message names the first rank that failed; its lines wrap anywhere.
std::vector<ReportedEnd> last_words(const std::string& text, int attempt) {
  std::vector<ReportedEnd> ends;
  const auto scan = [&](const char* pattern, auto make) {
    const std::regex expression(pattern);
    for (std::sregex_iterator it(text.begin(), text.end(), expression), none; it != none; ++it)
      ends.push_back(make(*it));
  };
  scan(R"(noticed that process rank (\d{1,9}) with PID (\d{1,9}) on node \S+ exited on signal (\d{1,9}))",
       [&](const auto& m) {
         return ReportedEnd{
             std::stoi(m[1]), std::stoi(m[2]), attempt, {ExitStatus::Kind::kSignal, std::stoi(m[3])}};
       });
  scan(R"(Process name: \[[^ ]*,(\d{1,9})\] Exit code: (\d{1,9}))", [&](const auto& m) {
    return ReportedEnd{std::stoi(m[1]), 0, attempt, {ExitStatus::Kind::kCode, std::stoi(m[2])}};
  });
  return ends;
}

std::vector<ReportedEnd> reported(const LaunchContext& context, const std::string& text,
                                  const ExitStatus& launcher) {
  std::vector<ReportedEnd> ends = first_failure(text, context.attempt, launcher);
  return ends.empty() ? last_words(text, context.attempt) : ends;
}

std::vector<std::string> output(const LaunchContext& context, int rank) {
  std::vector<std::string> sources;
  // The rank is padded with zeros to equal width.
  for (const std::string& path : files_matching(mpirun_output_dir(context) + "/*/rank.*/std*"))
    if (std::stoi("0" + std::filesystem::path(path).parent_path().extension().string().substr(1)) == rank)
      sources.push_back(path);
  return sources;
}

const Registration<MpiImplementation> registration{{
    .name = "Open MPI",
    .version = version,
    .options = options,
    .pass_on = pass_on,
    .reported = reported,
    .output = output,
}};

}  // namespace
}  // namespace rankfault
