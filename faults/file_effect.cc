#include "faults/file_effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "faults/lowering.h"
#include "harness/scenario/op_names.h"

namespace rankfault {
namespace {

// A program opens its files by their whole path.
std::string as_called(const std::string& pattern) {
  return pattern.starts_with('*') ? pattern : "*/" + pattern;
}

struct Harm {
  std::string path;
  Instant time;
  uint64_t inode = 0, born = 0;
  // The state after the openings read so far.
  bool over = false;    // no process can meet the harm any more
  std::string doubt;    // why a later reader may not have met the harm
  std::string instead;  // how an opening of that name missed the harm
};

std::vector<Harm> harms_of(const RunFacts& facts, const Action& action) {
  std::vector<Harm> harms;
  for (const auto& line : lines_of<events::FaultEffect>(facts.journal))
    if (line->fault == action.fault && line->action == action.id && line->path)
      harms.push_back({*line->path, line->time.value_or(Instant{}), line->inode.value_or(0),
                       line->born.value_or(0), false, "", ""});
  return harms;
}

struct Opening {
  int rank = -1;
  std::string path;
  rf_record end{};

  Instant time() const { return instant_of(end.time_ns); }
};

// Returns all openings of files that ended, in the order of their ends.
std::vector<Opening> openings_of(const RunFacts& facts) {
  std::vector<Opening> openings;
  for (const ProcessView& process : facts.timeline.processes) {
    const CallHistory history(process);
    for (const RecordedCall* call : history.file_calls(RF_OP_FILE_OPEN))
      openings.push_back({process.rank, *history.path_of(*call), *call->leave});
  }
  std::stable_sort(openings.begin(), openings.end(),
                   [](const Opening& a, const Opening& b) { return a.time() < b.time(); });
  return openings;
}

// Whether this opening met the harm.
bool meets(const Opening& opening, Harm& harm) {
  const rf_record& end = opening.end;
  if (opening.time() < harm.time || end.tag_or_result != 0) return false;
  const bool known = harm.inode != 0 && end.count != 0;
  if (!known && opening.path != harm.path) return false;
  if (known && (end.count != harm.inode || end.where != harm.born)) {
    if (opening.path == harm.path)
      harm.instead = fmt::format("rank {} opened another file of that name", opening.rank);
    return false;
  }
  if (end.flags & RF_OPEN_EMPTIES) {
    harm.over = true;
    harm.instead = fmt::format("rank {} emptied it when it opened it", opening.rank);
  }
  if (harm.over) return false;
  if (!known) harm.doubt = "the record does not show which file it was and how it was opened";
  if (!known || (end.flags & RF_OPEN_READS)) return true;
  harm.instead = fmt::format("rank {} opened it for writing only", opening.rank);
  harm.doubt = harm.instead + " before";
  return false;
}

// Returns when the first call of that operation on that file ended, from `since` on.
Instant first_end(const CallHistory& history, uint16_t op, const std::string& path, Instant since) {
  for (const RecordedCall* call : history.file_calls(op))
    if (call->left() >= since && *history.path_of(*call) == path) return call->left();
  return {};
}

}  // namespace

Result<std::string> file_pattern(const FaultSpec& fault) {
  const Value* written = fault.params.find("path");
  const std::string path = written ? written->text : fault.at.path;
  if (path.empty())
    return usage_error(fmt::format("{} needs \"path\": a pattern that names the files", fault.kind),
                       fault.pos);
  if (path.starts_with('/') || path.find("..") != std::string::npos)
    return usage_error(
        "\"path\" must be a pattern of names below the job's TMPDIR, without \"..\": the fault touches only "
        "the job's own files there",
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
  watch.outside = "watch";
  watch.at.file_op = "open";
  watch.at.path = as_called(*path);
  actions.push_back(std::move(watch));
  return actions;
}

EffectReport read_afterwards(const RunFacts& facts, const Action& action, const std::string& met,
                             const std::string& nobody) {
  std::vector<Harm> harms = harms_of(facts, action);
  std::string doubt, instead;
  for (const Opening& opening : openings_of(facts))
    for (Harm& harm : harms) {
      if (!meets(opening, harm)) continue;
      const std::string text = fmt::format("rank {} opened {}", opening.rank, opening.path);
      if (harm.doubt.empty()) return verified(text + " " + met, opening.time());
      if (doubt.empty()) doubt = text + ", but " + harm.doubt;
    }
  if (!doubt.empty()) return cannot_tell(doubt);
  for (const Harm& harm : harms)
    if (instead.empty()) instead = harm.instead;
  return not_bitten(instead.empty() ? nobody : nobody + ": " + instead);
}

std::optional<FileMissed> missed_afterwards(const RunFacts& facts, const Action& action) {
  std::vector<Harm> harms = harms_of(facts, action);
  for (const Opening& opening : openings_of(facts))
    for (Harm& harm : harms) {
      if (opening.path != harm.path || opening.time() < harm.time || harm.over) continue;
      if (opening.end.tag_or_result == ENOENT) return FileMissed{opening.rank, opening.time(), opening.path};
      if (opening.end.tag_or_result == 0) harm.over = true;  // the file exists again
    }
  return std::nullopt;
}

bool ended_by_fail_call(const RunFacts& facts, const CallHistory& history, const RecordedCall& call) {
  const std::string* const path = history.path_of(call);
  if (!path) return false;
  for (const GateEvent& gate : facts.gates) {
    if (gate.action >= facts.plan.actions.size() || facts.plan.actions[gate.action].verb != RF_VERB_FAIL ||
        gate.effect != "done" || gate.asked > call.left() || gate.path != *path ||
        gate.op != op_text(call.op()) || process_of(gate, facts) != &history.process())
      continue;
    if (first_end(history, call.op(), *path, gate.asked) == call.left()) return true;
  }
  return false;
}

}  // namespace rankfault
