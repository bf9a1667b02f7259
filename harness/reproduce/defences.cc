#include "harness/reproduce/defences.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "harness/run_scenario.h"
#include "harness/scenario/scenario_parser.h"

namespace rankfault {
namespace {

constexpr const char* kLimit = "--limit=3s";
constexpr Duration kLongEnough = 30s;

// The first line of the ranks' logs that a defence or a limit wrote; "" without one.
std::string said_in(const std::string& run_dir) {
  std::error_code none;
  std::vector<std::string> logs;
  for (const auto& entry : std::filesystem::directory_iterator(run_dir + "/logs", none))
    if (entry.path().filename().string().starts_with("rank-")) logs.push_back(entry.path());
  std::sort(logs.begin(), logs.end());
  std::string first;
  for (const std::string& log : logs) {
    std::ifstream in(log);
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("defence ")) return line;
      if (first.empty() && line.starts_with("rank ") && line.find(": step ") != std::string::npos)
        first = line;
      if (first.empty() && line.find(": gave up ") != std::string::npos) first = line;
    }
  }
  return first;
}

Instant diverged_at(const RunFacts& facts) {
  for (const GateEvent& gate : facts.gates)
    if (is_known(gate.answered)) return gate.answered;
  return facts.begin;
}

Instant first_end(const RunFacts& facts) {
  Instant first;
  for (const RankEnd& end : facts.ends)
    if (end.rank >= 0 && (!is_known(first) || end.time < first)) first = end.time;
  return first;
}

// The job itself must notice. Whether it finished is not known before it has ended.
std::string with_only_finished(const std::string& text) {
  const size_t end = std::min(text.rfind("\nteeth:\n"), text.rfind("\nexpect:\n"));
  return text.substr(0, end) + "\nexpect: [finished]\n";
}

// By itself, and not as a healthy job: a rank that is only late comes in the end.
bool ended_badly(const RunFacts& facts) {
  return std::any_of(facts.ends.begin(), facts.ends.end(),
                     [](const RankEnd& end) { return end.rank >= 0 && end.status.nonzero(); });
}

}  // namespace

std::vector<Defence> defences() { return {{"limit", {kLimit}}, {"step-check", {kLimit, "--steps-check"}}}; }

Result<Defended> defend(const Written& written, const std::string& file, const Defence& defence,
                        const std::atomic<int>* interrupted) {
  Result<Scenario> scenario = parse_scenario(with_only_finished(written.text), file);
  if (!scenario) return scenario.error();
  std::vector<std::string>& command = scenario->workload.command;
  command.insert(command.end(), defence.args.begin(), defence.args.end());
  if (scenario->bug) command.push_back("--diverge");
  scenario->bug.reset();
  scenario->workload.limits.wall = kLongEnough;
  const Result<Plan> plan = make_plan(*scenario, {});
  if (!plan) return plan.error();
  RunOptions with;
  with.interrupted = interrupted;
  const Result<FinishedRun> run = run_scenario(*plan, with);
  if (!run) return run.error();
  const RunFacts& facts = *run->facts;
  Defended result;
  result.run_dir = facts.run_dir;
  result.caught = !is_known(facts.teardown) && ended_badly(facts);
  result.said = said_in(facts.run_dir);
  if (const Instant end = first_end(facts); result.caught && is_known(end))
    result.after_s = std::max(0.0, static_cast<double>((end - diverged_at(facts)).count()) / 1e9);
  return result;
}

}  // namespace rankfault
