#include "faults/shm_effect.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "harness/observe/call_history.h"

namespace rankfault {
namespace {

bool is_attach(uint16_t op) { return op == RF_OP_SHM_ATTACH || op == RF_OP_FILE_OPEN; }
bool is_of_segments(uint16_t op) { return op >= RF_OP_SHM_CREATE && op <= RF_OP_SHM_UNLINK; }

bool is_one_of(const std::vector<int>& errors, int error) {
  return std::find(errors.begin(), errors.end(), error) != errors.end();
}

std::set<std::string> harmed_paths(const RunFacts& facts, const Action& action) {
  std::set<std::string> paths;
  for (const auto& line : lines_of<events::FaultEffect>(facts.journal))
    if (line->fault == action.fault && line->path) paths.insert(*line->path);
  return paths;
}

}  // namespace

std::optional<FailedAttach> failed_attach(const RunFacts& facts, const Action& action, Instant from,
                                          const std::vector<int>& errors) {
  const std::set<std::string> harmed = harmed_paths(facts, action);
  std::optional<FailedAttach> first;
  for (const ProcessView& process : facts.timeline.processes) {
    const CallHistory history(process);
    const auto failed = history.left([&](const RecordedCall& call) {
      const std::string* const path = history.path_of(call);
      return is_attach(call.op()) && call.left() >= from && is_one_of(errors, call.result()) && path &&
             fnmatch(action.path.c_str(), path->c_str(), 0) == 0 &&
             harmed.count(*path) != 0;  // not a probe for a name that never existed
    });
    if (failed.empty() || (first && first->time <= failed.front()->left())) continue;
    const RecordedCall& call = *failed.front();
    first = FailedAttach{process.rank, call.left(), *history.path_of(call), call.result()};
  }
  return first;
}

std::optional<SegmentUse> first_use(const RunFacts& facts, const Action& action, int attempt, Instant from,
                                    Instant until) {
  const std::set<std::string> harmed = harmed_paths(facts, action);
  std::optional<SegmentUse> first;
  for (const ProcessView& process : facts.timeline.processes) {
    if (process.attempt != attempt) continue;
    const CallHistory history(process);
    const auto uses = history.left([&](const RecordedCall& call) {
      const std::string* const path = history.path_of(call);
      return is_of_segments(call.op()) && call.left() >= from && call.left() < until && path &&
             harmed.count(*path) != 0;
    });
    if (uses.empty() || (first && first->time <= uses.front()->left())) continue;
    const RecordedCall& call = *uses.front();
    first = SegmentUse{process.rank, call.left(), *history.path_of(call), static_cast<rf_op>(call.op()),
                       call.result()};
  }
  return first;
}

}  // namespace rankfault
