// validate_faults: checks that kinds and victims exist, and that triggers can match.
#include <fmt/format.h>

#include <algorithm>

#include "faults/fault.h"
#include "harness/base/suggest.h"
#include "harness/scenario/scenario_fields.h"
#include "harness/scenario/validate.h"

namespace rankfault {
namespace {

std::string ranks_there_are(int ranks) {
  return ranks == 1 ? "the only rank is 0" : fmt::format("ranks are 0 to {}", ranks - 1);
}

void check_id(const Scenario& scenario, const FaultSpec& fault, Problems& problems) {
  if (fault.id.find_first_of(". \t") != std::string::npos)
    problems.add(fmt::format("the id \"{}\" must not contain a dot or a space", fault.id), fault.pos);
  for (const FaultSpec& other : scenario.faults) {
    if (&other == &fault) break;
    if (other.id == fault.id)
      problems.add(
          fmt::format("two faults are called \"{}\" (the other in line {})", fault.id, other.pos.line),
          fault.pos);
  }
}

void check_victims(const FaultSpec& fault, int ranks, Problems& problems) {
  const RankSet& set = fault.ranks;
  if (set.kind != RankSet::Kind::kAll && set.kind != RankSet::Kind::kListed)
    problems.add(
        "the ranks of a fault must be a list, a range or all: victims, others and survivors refer "
        "to them",
        set.pos);
  if (set.kind == RankSet::Kind::kListed && !set.ranks.empty() && set.ranks.back() >= ranks)
    problems.add(fmt::format("rank {} is not in this job: {}", set.ranks.back(), ranks_there_are(ranks)),
                 set.pos);
}

void check_comm(const FaultSpec& fault, int ranks, Problems& problems) {
  const CommSelector& comm = fault.at.comm;
  if (comm.kind != CommSelector::Kind::kSize) return;
  if (comm.size > ranks)
    problems.add(fmt::format("a job of {} ranks cannot have a communicator of size {}", ranks, comm.size),
                 fault.at.pos);
  if (!comm.has_rank) return;
  const std::vector<int> victims = victims_of(fault, ranks);
  if (*comm.has_rank >= ranks)
    problems.add(fmt::format("rank {} is not in this job: {}", *comm.has_rank, ranks_there_are(ranks)),
                 fault.at.pos);
  else if (victims != std::vector<int>{*comm.has_rank})
    problems.add(
        "\"has_rank\" must be the only victim of the fault: a victim sees only its own communicators",
        fault.at.pos);
}

void check_trigger(const Scenario& scenario, const FaultSpec& fault, Problems& problems) {
  const Trigger& at = fault.at;
  const Workload& workload = scenario.workload;
  check_comm(fault, workload.ranks, problems);
  const bool may_restart = workload.launcher == LauncherKind::kTorchrun ||
                           (workload.launcher == LauncherKind::kCommand && workload.restarts == 0);
  if (at.attempt && *at.attempt > workload.restarts && !may_restart)
    problems.add(fmt::format("attempt {} does not exist: with \"restarts: {}\" attempts are 0 to {}",
                             *at.attempt, workload.restarts, workload.restarts),
                 at.pos);
  if (at.step && !workload.markers.step_begin.empty())
    problems.add(
        "a step cannot trigger a fault here: rankfault reads markers.step_begin from the logs after the run. "
        "Let the workload mark its steps (harness/mark: rankfault_mark.py, mark.h) and leave that marker out",
        at.pos);
  if (at.after_fault.empty()) return;
  std::vector<std::string> ids;
  for (const FaultSpec& other : scenario.faults) ids.push_back(other.id);
  if (std::find(ids.begin(), ids.end(), at.after_fault) == ids.end())
    problems.add(fmt::format("after_fault names no fault: \"{}\"{}", at.after_fault,
                             did_you_mean(at.after_fault, ids)),
                 at.pos);
}

const FaultSpec* fault_called(const Scenario& scenario, const std::string& id) {
  for (const FaultSpec& fault : scenario.faults)
    if (fault.id == id) return &fault;
  return nullptr;
}

// Follows after_fault from `fault`, for at most one step more than the scenario has faults.
bool waits_for_itself(const Scenario& scenario, const FaultSpec& fault) {
  const FaultSpec* at = &fault;
  for (size_t steps = 0; steps <= scenario.faults.size(); ++steps) {
    if (at->at.after_fault.empty()) return false;
    at = fault_called(scenario, at->at.after_fault);
    if (!at) return false;
    if (at == &fault) return true;
  }
  return false;
}

// A guardian of a node does these by itself. The others need the files or the launcher of the tool's host, or
// an order of acts on several nodes.
bool acts_on_ranks_alone(const FaultSpec& fault, const std::vector<Action>& actions) {
  return fault.at.after_fault.empty() &&
         std::all_of(actions.begin(), actions.end(), [](const Action& action) {
           return action.outside == kNoAct || action.outside == "signal" || action.outside == "continue";
         });
}

void check_kind(const Scenario& scenario, const FaultSpec& fault, Problems& problems) {
  if (!look_up(fault, problems)) return;
  const FaultKind* kind = Catalog<FaultKind>::instance().find(fault.kind);
  const LowerContext context{scenario, scenario.workload.ranks, 0,
                             victims_of(fault, scenario.workload.ranks)};
  auto lowered = kind->lower(fault, context);
  if (!lowered) return problems.add(lowered.error(), fault.pos);
  if (scenario.workload.launcher == LauncherKind::kSlurm && !acts_on_ranks_alone(fault, *lowered))
    problems.add(
        fmt::format(
            "{} does not act on other nodes yet: with \"launcher: slurm\" a fault acts in calls of one "
            "rank, or is a signal",
            fault.kind),
        fault.pos);
}

}  // namespace

bool look_up(const FaultSpec& fault, Problems& problems) {
  const auto& kinds = Catalog<FaultKind>::instance();
  const FaultKind* kind = kinds.find(fault.kind);
  if (!kind) {
    const std::string near = kinds.did_you_mean(fault.kind);
    problems.add(fmt::format("unknown fault kind \"{}\"{}", fault.kind,
                             near.empty() ? "; `rankfault list faults` names them" : near),
                 fault.kind_pos.line ? fault.kind_pos : fault.pos);
    return false;
  }
  const auto wrong = all_mistakes(fault.params, kind->params, fault.kind, names_of(keys_of<FaultSpec>()));
  for (const Error& error : wrong) problems.add(error, fault.pos);
  return wrong.empty();
}

void validate_faults(const Scenario& scenario, Problems& problems) {
  for (const FaultSpec& fault : scenario.faults) {
    check_id(scenario, fault, problems);
    check_victims(fault, scenario.workload.ranks, problems);
    check_trigger(scenario, fault, problems);
    check_kind(scenario, fault, problems);
    if (waits_for_itself(scenario, fault))
      problems.add(fmt::format("\"{}\" waits for itself through after_fault", fault.id), fault.at.pos);
  }
}

}  // namespace rankfault
