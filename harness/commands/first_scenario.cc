#include "harness/commands/first_scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/base/printable.h"
#include "harness/judge/oracle_queries.h"
#include "reports/story.h"

namespace rankfault {
namespace {

struct Made {  // the calls of one operation on one communicator, by one rank
  std::string op, comm;
  size_t count = 0;
};

// Most frequent first.
std::vector<Made> calls_of(const RunFacts& facts, int rank) {
  std::map<std::pair<std::string, std::string>, size_t> counts;
  for (const ProcessView* process : processes_of(facts, rank)) {
    const CallHistory history(*process, OpenCalls::kByStates);
    for (const RecordedCall* call : communication_calls(history))
      if (is_collective(call->op()))
        ++counts[{op_text(call->op()), comm_name(process->comm(call->comm()), facts.timeline.world_size)}];
  }
  std::vector<Made> made;
  for (const auto& [key, count] : counts) made.push_back({key.first, key.second, count});
  std::stable_sort(made.begin(), made.end(), [](const Made& a, const Made& b) { return a.count > b.count; });
  return made;
}

uint64_t steps_of(const RunFacts& facts) {
  uint64_t steps = 0;
  for (const ProcessView& process : facts.timeline.processes) steps = std::max(steps, process.steps_begun);
  return steps;
}

// A word of YAML: JSON's strings are YAML's, too.
std::string word(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string words(const std::vector<std::string>& all) {
  std::vector<std::string> quoted;
  for (const std::string& one : all) quoted.push_back(word(one));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string workload_text(const Workload& workload, int ranks, int wall) {
  std::string out = fmt::format("workload:\n  launcher: {}\n  ranks: {}\n  command: {}\n",
                                to_text(workload.launcher), ranks, words(workload.command));
  if (!workload.launcher_args.empty())
    out += fmt::format("  launcher_args: {}\n", words(workload.launcher_args));
  if (!workload.mpirun.empty()) out += fmt::format("  mpirun: {}\n", word(workload.mpirun));
  return out + fmt::format("  limits: {{wall: {}s}}\n", wall);
}

std::string head(const RunFacts& facts, const std::vector<Made>& made, double seconds) {
  std::string out =
      fmt::format("# Written by `rankfault init` from one run without faults: {} rank{}, {:.1f} s.\n",
                  facts.timeline.world_size, facts.timeline.world_size == 1 ? "" : "s", seconds);
  constexpr size_t kShown = 6;
  out += "# Each rank made:\n";
  for (size_t i = 0; i < made.size() && i < kShown; ++i)
    out += fmt::format("#   {:>8} {}{}\n", made[i].count, made[i].op,
                       made[i].comm.empty() ? "" : " on " + printable(made[i].comm));
  if (made.size() > kShown) out += fmt::format("#   and {} more kinds of calls\n", made.size() - kShown);
  const uint64_t steps = steps_of(facts);
  if (steps == 0)
    return out +
           "# It marks no steps. With marks, a fault can act at a step, and `no_commit_after` can judge.\n";
  return out + fmt::format("# Its last step is {}: `at: {{step: {}, op: {}}}` is a point in the middle.\n",
                           steps - 1, steps / 2, made.front().op);
}

constexpr const char* kOthers =
    "# Other faults to try here, with what to expect of them first:\n"
    "#   kind: rank_stop     blamed: {{kind: stopped_rank, ranks: [{0}]}}\n"
    "#   kind: skip_call     blamed: {{any_of: [{{kind: missing_call, ranks: [{0}]}}, {{kind: call_mismatch, "
    "ranks: [{0}]}}]}}\n"
    "#   kind: delay_call, delay: 10s      blamed: {{kind: slow_rank, ranks: [{0}]}}\n"
    "# `rankfault list faults` has all of them, `rankfault list oracles` all expectations.\n"
    "# A mutation shows that the scenario can fail: switch off a defence of your job by `teeth`.\n";

// Where rankfault cannot read all communication of a rank, only its end shows that it is free.
std::string others_expectation(const RunFacts& facts, int victim, int wall) {
  const std::vector<ProcessView>& all = facts.timeline.processes;
  if (std::any_of(all.begin(), all.end(), [&](const ProcessView& p) {
        return p.rank >= 0 && p.rank != victim && (p.opaque & RF_OPAQUE_COMMUNICATION);
      }))
    return "  # Your timeout or your launcher ends every other rank. `unblocked` would be unknown, because\n"
           "  # rankfault cannot read all calls of this program.\n"
           "  - ended: {ranks: others, exit: nonzero}\n";
  return fmt::format(
      "  # Your timeout or your launcher frees every other rank in time. Set the time that you promise.\n"
      "  - unblocked: {{ranks: others, within: {}s, after: kill}}\n",
      wall);
}

}  // namespace

Result<std::string> first_scenario(const RunFacts& facts, const std::string& name, double seconds) {
  const int ranks = facts.timeline.world_size, victim = ranks - 1;
  const std::vector<Made> made = calls_of(facts, victim);
  if (made.empty())
    return usage_error(
        fmt::format("rankfault recorded no collective call of rank {}, so no fault could act there: "
                    "rankfault doctor PROGRAM says which calls it can record",
                    victim));
  const size_t nth = std::max<size_t>(1, made.front().count / 2);
  const int wall = static_cast<int>(std::ceil(std::max(30.0, 5 * seconds)));
  std::string out = head(facts, made, seconds);
  out += fmt::format("version: 1\nname: {}\nsummary: Rank {} is killed at its {} number {}.\n", name, victim,
                     made.front().op, nth);
  out += workload_text(facts.plan.scenario.workload, ranks, 2 * wall);
  out += fmt::format(
      "faults:\n  - id: kill\n    kind: rank_kill\n    ranks: [{}]\n    at: {{op: {}, nth: {}}}\n", victim,
      made.front().op, nth);
  out += fmt::format(
      "expect:\n  # rankfault names the killed rank.\n  - blamed: {{kind: dead_rank, ranks: [{}]}}\n",
      victim);
  if (ranks > 1) out += others_expectation(facts, victim, wall);
  out += "  # Nothing of the job stays on this machine.\n  - left_nothing: [processes, shm, sockets]\n";
  return out + fmt::format(kOthers, victim);
}

}  // namespace rankfault
