#include "faults/file_effect.h"

#include <fmt/format.h>

#include <map>

#include "faults/lowering.h"
#include "harness/scenario/op_words.h"

namespace rankfault {
namespace {

// A program names its files by their whole path.
std::string as_called(const std::string& pattern) {
  return pattern.starts_with('*') ? pattern : "*/" + pattern;
}

std::map<std::string, TimeNs> harmed_files(const RunFacts& facts, const Action& action) {
  std::map<std::string, TimeNs> files;
  for (const Json& line : facts.journal)
    if (line.value("ev", "") == "fault_effect" && line.value("fault", "") == action.fault &&
        line.value("action", uint32_t{0}) == action.id && line.contains("path"))
      files[line["path"].get<std::string>()] = line.value("time", TimeNs{0});
  return files;
}

// When the first call of that op on that file ended, from `since` on.
TimeNs first_end(const ProcessView& process, uint16_t op, const std::string& path, TimeNs since) {
  TimeNs first = 0;
  for (const Event& event : process.history) {
    const rf_record& record = event.record;
    if (record.op != op || record.phase != RF_PHASE_EXIT || record.time_ns < since) continue;
    const auto name = process.name_at.find(static_cast<uint32_t>(record.seq));
    if (name == process.name_at.end() || name->second != path) continue;
    if (first == 0 || record.time_ns < first) first = record.time_ns;
  }
  return first;
}

}  // namespace

Result<std::string> file_pattern(const FaultSpec& fault) {
  const Value* written = fault.params.find("path");
  const std::string path = written ? written->text : fault.at.path;
  if (path.empty()) return usage_error(fmt::format("{} needs \"path\": which files?", fault.kind), fault.pos);
  if (path.starts_with('/') || path.find("..") != std::string::npos)
    return usage_error(
        "\"path\" is a pattern of names below the job's TMPDIR: only the job's own files there "
        "are touched",
        written ? written->pos : fault.at.pos);
  return path;
}

Result<std::vector<Action>> harm_file(const FaultSpec& fault, const LowerContext& context,
                                      const std::function<void(Action&)>& fill) {
  if (Status ok = need_trigger(fault); !ok) return ok.error();
  const Result<std::string> path = file_pattern(fault);
  if (!path) return path.error();
  std::vector<Action> actions = for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_OUTSIDE;
    action.path = *path;
    if (!action.at.file_op.empty() && action.at.path.empty()) action.at.path = as_called(*path);
    fill(action);
  });
  Action watch;
  watch.rank = context.victims.empty() ? 0 : context.victims.front();
  watch.outside = OutsideVerb::kWatch;
  watch.at.file_op = "open";
  watch.at.path = as_called(*path);
  actions.push_back(std::move(watch));
  return actions;
}

std::optional<FileOpened> opened_afterwards(const RunFacts& facts, const Action& action, int error) {
  const std::map<std::string, TimeNs> harmed = harmed_files(facts, action);
  std::optional<FileOpened> first;
  for (const ProcessView& process : facts.timeline.processes)
    for (const Event& event : process.history) {
      const rf_record& record = event.record;
      if (record.op != RF_OP_FILE_OPEN || record.tag_or_result != error) continue;
      if (record.phase != RF_PHASE_EXIT && record.phase != RF_PHASE_ERROR) continue;
      const auto name = process.name_at.find(static_cast<uint32_t>(record.seq));
      if (name == process.name_at.end()) continue;
      const auto file = harmed.find(name->second);
      if (file == harmed.end() || record.time_ns < file->second) continue;
      if (!first || record.time_ns < first->time)
        first = FileOpened{process.rank, record.time_ns, name->second};
    }
  return first;
}

bool ended_by_fail_call(const RunFacts& facts, const ProcessView& process, const rf_record& end,
                        const std::string& path) {
  for (const GateEvent& gate : facts.gates) {
    if (gate.action >= facts.plan.actions.size() || facts.plan.actions[gate.action].verb != RF_VERB_FAIL ||
        gate.effect != "done" || gate.asked > end.time_ns || gate.path != path ||
        gate.op != op_word(static_cast<rf_op>(end.op)) || process_of(gate, facts) != &process)
      continue;
    if (first_end(process, end.op, path, gate.asked) == end.time_ns) return true;
  }
  return false;
}

}  // namespace rankfault
