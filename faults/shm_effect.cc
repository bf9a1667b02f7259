#include "faults/shm_effect.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

namespace rankfault {
namespace {

bool is_attach(const rf_record& record) {
  return (record.op == RF_OP_SHM_ATTACH || record.op == RF_OP_FILE_OPEN) &&
         (record.phase == RF_PHASE_EXIT || record.phase == RF_PHASE_ERROR);
}

std::set<std::string> harmed_paths(const RunFacts& facts, const Action& action) {
  std::set<std::string> paths;
  for (const auto& line : lines_of<events::FaultEffect>(facts.journal))
    if (line->fault == action.fault && line->path) paths.insert(*line->path);
  return paths;
}

}  // namespace

std::optional<FailedAttach> failed_attach(const RunFacts& facts, const Action& action, TimeNs from,
                                          const std::vector<int>& errors) {
  const std::set<std::string> harmed = harmed_paths(facts, action);
  std::optional<FailedAttach> first;
  for (const ProcessView& process : facts.timeline.processes)
    for (const Event& event : process.history) {
      const rf_record& record = event.record;
      if (!is_attach(record) || record.time_ns < from || (first && first->time <= record.time_ns)) continue;
      if (std::find(errors.begin(), errors.end(), record.tag_or_result) == errors.end()) continue;
      const auto name = process.name_at.find(static_cast<uint32_t>(record.seq));
      if (name == process.name_at.end() || fnmatch(action.path.c_str(), name->second.c_str(), 0) != 0)
        continue;
      if (harmed.count(name->second) == 0) continue;  // a probe for a name that never existed
      first = FailedAttach{process.rank, record.time_ns, name->second, record.tag_or_result};
    }
  return first;
}

std::optional<SegmentUse> first_use(const RunFacts& facts, const Action& action, int attempt, TimeNs from,
                                    TimeNs until) {
  const std::set<std::string> harmed = harmed_paths(facts, action);
  std::optional<SegmentUse> first;
  for (const ProcessView& process : facts.timeline.processes)
    for (const Event& event : process.history) {
      const rf_record& record = event.record;
      const bool left = record.phase == RF_PHASE_EXIT || record.phase == RF_PHASE_ERROR;
      if (process.attempt != attempt || !left || record.op < RF_OP_SHM_CREATE ||
          record.op > RF_OP_SHM_UNLINK || record.time_ns < from || record.time_ns >= until ||
          (first && first->time <= record.time_ns))
        continue;
      const auto name = process.name_at.find(static_cast<uint32_t>(record.seq));
      if (name == process.name_at.end() || harmed.count(name->second) == 0) continue;
      first = SegmentUse{process.rank, record.time_ns, name->second, static_cast<rf_op>(record.op),
                         record.tag_or_result};
    }
  return first;
}

}  // namespace rankfault
