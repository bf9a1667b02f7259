#include "harness/live/no_rank.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace rankfault {
namespace {

constexpr size_t kLines = 8, kColumns = 240;

// The state lines that we make Open MPI 4 print (openmpi.cc), and rules of dashes, mean nothing to people.
bool is_noise(const std::string& line) {
  return line.find("] ACTIVATE ") != std::string::npos ||
         line.find_first_not_of("- \t\r*") == std::string::npos;
}

std::vector<std::string> last_lines(const std::string& log) {
  std::vector<std::string> lines;
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) {
    if (is_noise(line)) continue;
    lines.push_back(line.substr(0, kColumns));
    if (lines.size() > kLines) lines.erase(lines.begin());
  }
  return lines;
}

// With `launcher: command`: the name of the program.
std::string base_name_of_command(const LaunchContext& context) {
  return std::filesystem::path(context.plan.scenario.workload.command.front()).filename().string();
}

}  // namespace

void journal_no_rank(const LaunchContext& context, const Timeline& timeline, const ExitStatus& status,
                     Journal& journal) {
  const LauncherKind kind = context.plan.scenario.workload.launcher;
  if (kind == LauncherKind::kLocal || context.agent.empty()) return;
  if (std::any_of(timeline.processes.begin(), timeline.processes.end(), [&](const ProcessView& process) {
        return process.stage != RF_STAGE_STRANGER && process.attempt >= context.attempt;
      }))
    return;
  const std::string log = launcher_log(context.run, context.attempt);
  journal.write(events::NoRank{
      .attempt = context.attempt,
      .launcher = kind == LauncherKind::kCommand ? base_name_of_command(context) : to_text(kind),
      .status = status.kind == ExitStatus::Kind::kUnknown ? "" : status.to_string(),
      .log = "logs/" + std::filesystem::path(log).filename().string(),
      .last = last_lines(log)});
}

}  // namespace rankfault
