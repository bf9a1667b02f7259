// mpirun: Open MPI 4 and 5. The agent goes to the ranks by -x, never to mpirun itself.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <regex>

#include "harness/base/capture.h"
#include "harness/launch/gather.h"
#include "harness/launch/launcher.h"

namespace rankfault {
namespace {

constexpr int kShellSignalBase = 128;  // mpirun exits with 128 + N for a rank that signal N ended

std::string program_of(const Workload& workload) {
  return workload.mpirun.empty() ? "mpirun" : workload.mpirun;
}

// 4 or 5; 0: not Open MPI, or not there. Asked once for each program.
int major_version(const std::string& program) {
  static std::map<std::string, int> known;
  const auto found = known.find(program);
  if (found != known.end()) return found->second;
  std::smatch match;
  int major = 0;
  if (const auto text = capture({program, "--version"}))
    if (std::regex_search(*text, match, std::regex(R"(\(Open MPI\) (\d+)\.)"))) major = std::stoi(match[1]);
  return known[program] = major;
}

Status probe(const Workload& workload) {
  const std::string program = program_of(workload);
  const int major = major_version(program);
  if (major == 4 || major == 5) return Done{};
  if (!workload.mpirun.empty() && workload.mpirun.find('/') != std::string::npos &&
      ::access(workload.mpirun.c_str(), X_OK) != 0)
    return usage_error(fmt::format("mpirun: {}: {}", program, std::strerror(errno)));
  return missing(fmt::format("{}: Open MPI 4 or 5 is needed, and its --version does not say so", program));
}

bool mentions(const std::vector<std::string>& args, const std::string& word) {
  return std::any_of(args.begin(), args.end(), [&](const std::string& arg) { return arg == word; });
}

std::string output_dir(const LaunchContext& context) {
  return fmt::format("{}/mpirun.a{}", context.run.logs(), context.attempt);
}

void add(std::vector<std::string>& argv, std::initializer_list<std::string> words) {
  argv.insert(argv.end(), words);
}

// What we choose, unless the user's own words do.
void add_options(const LaunchContext& context, int major, std::vector<std::string>& argv) {
  const auto& own = context.plan.scenario.workload.launcher_args;
  // 4.1.4 often ends without its last words (12 of 32 ranks killed at their start); these lines always come.
  if (major == 4)
    add(argv, {"--oversubscribe", "--mca", "state_base_verbose", "1"});
  else if (!mentions(own, "--map-by"))
    add(argv, {"--map-by", ":OVERSUBSCRIBE"});
  if (!mentions(own, "--bind-to")) add(argv, {"--bind-to", "none"});  // two runs at once share the cores
  // Else it tries an outside interface, and hangs in connect. Spawned processes meet over TCP.
  if (!mentions(own, "btl"))
    add(argv,
        {"--mca", "btl", major == 4 ? "self,vader,tcp" : "self,sm,tcp", "--mca", "btl_tcp_if_include", "lo"});
  // One stream: 5.0.11 makes the rank's directory once for each stream, and fails at the second.
  if (major == 4)
    add(argv, {"--merge-stderr-to-stdout", "--output-filename", output_dir(context) + ":nocopy"});
  else
    add(argv, {"--output", "merge-stderr-to-stdout,dir=" + output_dir(context)});
}

void add_environment(const LaunchContext& context, std::vector<std::string>& argv) {
  for (const auto& [name, value] : context.plan.scenario.workload.env)
    if (name != "LD_PRELOAD") add(argv, {"-x", name});  // with the value it has in mpirun's own environment
  for (const char* name : {"TMPDIR", "RANKFAULT_JOB"}) add(argv, {"-x", name});
  for (const auto& [name, value] : agent_environment(context))
    add(argv, {"-x", fmt::format("{}={}", name, value)});
}

Result<std::vector<LaunchItem>> items(const LaunchContext& context) {
  const Workload& workload = context.plan.scenario.workload;
  const std::string program = program_of(workload);
  if (Status there = probe(workload); !there.ok()) return there.error();
  std::error_code error;
  std::filesystem::create_directories(expand("{store}", context, -1), error);

  LaunchItem item;
  Command& command = item.command;
  command.argv = {program, "-np", std::to_string(workload.ranks)};
  add_options(context, major_version(program), command.argv);
  add_environment(context, command.argv);
  for (const std::string& word : workload.launcher_args) command.argv.push_back(expand(word, context, -1));
  for (const std::string& word : workload.command) command.argv.push_back(expand(word, context, -1));
  command.cwd = expand(workload.cwd, context, -1);
  command.env = job_environment(context, -1);
  if (workload.env.count("LD_PRELOAD")) command.env.erase("LD_PRELOAD");
  if (::geteuid() == 0)
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"}) {
      command.env[name] = "1";
      command.env[std::string(name) + "_CONFIRM"] = "1";
    }
  command.stdout_path = command.stderr_path = launcher_log(context.run, context.attempt);
  return std::vector<LaunchItem>{std::move(item)};
}

// White space as single blanks. Not by std::regex, which recurses for each character.
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

// Which rank failed first by the state lines of Open MPI 4, and how by mpirun's own exit, which repeats it.
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

// Its last words name the first rank that failed; the lines wrap where they like.
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

std::vector<ReportedEnd> reported(const LaunchContext& context, const ExitStatus& launcher) {
  const std::string text = folded(read_text(launcher_log(context.run, context.attempt)));
  std::vector<ReportedEnd> ends = first_failure(text, context.attempt, launcher);
  return ends.empty() ? last_words(text, context.attempt) : ends;
}

Status collect_logs(const LaunchContext& context) {
  for (int rank = 0; rank < context.plan.scenario.workload.ranks; ++rank) {
    std::vector<std::string> sources;
    // The rank is padded with zeros to equal width.
    for (const std::string& path : files_matching(output_dir(context) + "/*/rank.*/std*"))
      if (std::stoi("0" + std::filesystem::path(path).parent_path().extension().string().substr(1)) == rank)
        sources.push_back(path);
    if (sources.empty()) continue;  // it never started
    if (Status done = gather(sources, rank_log(context.run, rank, context.attempt)); !done.ok()) return done;
  }
  return Done{};
}

const Registration<Launcher> registration{{
    .name = "mpirun",
    .summary = "Open MPI's mpirun, version 4 or 5",
    .restarts_ranks = false,
    .probe = probe,
    .items = items,
    .reported = reported,
    .collect_logs = collect_logs,
}};

}  // namespace
}  // namespace rankfault
