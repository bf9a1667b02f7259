#include "harness/judge/oracle_queries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace rankfault {

ExpectationResult answer(const ExpectationSpec& spec, Verdict verdict, std::string because,
                         std::vector<uint64_t> lines) {
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return {spec.id, spec.oracle, verdict, std::move(because), std::move(lines)};
}

EffectReport effect_of(const FaultSpec& fault, const RunFacts& facts) {
  const FaultKind* kind = Catalog<FaultKind>::instance().find(fault.kind);
  if (kind && kind->verify) return kind->verify(fault, facts);
  EffectReport report;
  const auto at = facts.fault_at.find(fault.id);
  report.effect = at != facts.fault_at.end() ? Effect::kVerified : Effect::kUnknown;
  report.at = at != facts.fault_at.end() ? at->second : Instant{};
  report.how =
      at != facts.fault_at.end() ? "its effect was seen" : "rankfault cannot say whether it had an effect";
  return report;
}

std::vector<int> victims_of(const RunFacts& facts, const std::string& fault) {
  std::set<int> victims;
  for (const Action& action : facts.plan.actions)
    if ((fault.empty() || action.fault == fault) && action.rank >= 0) victims.insert(action.rank);
  for (const FaultSpec& spec : facts.plan.scenario.faults)
    if (fault.empty() || spec.id == fault)
      for (const int rank : resolve(spec.ranks, facts.plan.scenario.workload.ranks, {})) victims.insert(rank);
  return {victims.begin(), victims.end()};
}

bool something_bit(const RunFacts& facts) {
  if (!facts.plan.faults_on || facts.plan.scenario.faults.empty()) return true;
  return !facts.fault_at.empty();
}

namespace {

const FaultSpec* fault_named(const RunFacts& facts, const std::string& id) {
  for (const FaultSpec& fault : facts.plan.scenario.faults)
    if (fault.id == id) return &fault;
  return nullptr;
}

DeadlineStart did_not_bite(const FaultSpec& fault, const RunFacts& facts) {
  const EffectReport report = effect_of(fault, facts);
  DeadlineStart since;
  since.otherwise = report.effect == Effect::kUnknown ? Verdict::kUnknown : Verdict::kVoid;
  since.what = fmt::format("the fault {} had no verified effect: {}", fault.id, report.how);
  since.lines = report.journal;
  return since;
}

}  // namespace

DeadlineStart deadline_start(const ExpectationSpec& spec, const char* key, const RunFacts& facts) {
  DeadlineStart since;
  std::string id = read_text(spec.params, key);
  if (!facts.plan.faults_on || facts.plan.scenario.faults.empty()) {
    since.at = since.begin = facts.begin;
    since.what = "after the begin";
    return since;
  }
  if (id.empty()) {  // the fault that took effect first
    for (const auto& [fault, at] : facts.fault_at)
      if (id.empty() || at < facts.fault_at.at(id)) id = fault;
    if (id.empty()) id = facts.plan.scenario.faults.front().id;
  }
  const FaultSpec* fault = fault_named(facts, id);
  if (!fault) {
    since.otherwise = Verdict::kUnknown;
    since.what = fmt::format("the scenario has no fault {}", id);
    return since;
  }
  const auto at = facts.fault_at.find(id);
  if (at == facts.fault_at.end()) return did_not_bite(*fault, facts);
  since.at = since.begin = at->second;
  for (const GateEvent& gate : facts.gates)  // peers may see an act a little before the harness notes it
    if (gate.fault == id && gate.answer != "no_go" && is_known(gate.asked))
      since.begin = std::min(since.begin, gate.asked);
  since.what = "after " + id;
  since.lines = effect_of(*fault, facts).journal;
  return since;
}

namespace {

// The ranks that were alive when the effect was verified: they had not ended by then, and are not victims of
// a fault that ends ranks.
ChosenRanks survivors(const ExpectationSpec& spec, const RunFacts& facts) {
  const char* key = spec.params.find("fault") ? "fault" : "after";
  const DeadlineStart effect = deadline_start(spec, key, facts);
  if (effect.otherwise != Verdict::kPass) return {{}, effect.what};
  std::set<int> gone;
  for (const FaultSpec& fault : facts.plan.scenario.faults) {
    const FaultKind* kind = Catalog<FaultKind>::instance().find(fault.kind);
    if (kind && kind->ends_ranks && facts.fault_at.count(fault.id))
      for (const int rank : victims_of(facts, fault.id)) gone.insert(rank);
  }
  for (const RankEnd& end : facts.ends)
    if (end.time <= effect.at) gone.insert(end.rank);
  ChosenRanks chosen;
  for (int rank = 0; rank < facts.plan.scenario.workload.ranks; ++rank)
    if (!gone.count(rank)) chosen.ranks.push_back(rank);
  if (chosen.ranks.empty()) chosen.why = "no rank survived";
  return chosen;
}

}  // namespace

ChosenRanks chosen_ranks(const ExpectationSpec& spec, const char* key, const RunFacts& facts,
                         const char* otherwise) {
  const Value* value = spec.params.find(key);
  Value word;
  word.text = otherwise;
  word.data = word.text;
  const Result<RankSet> set = read_rank_set(value ? *value : word);
  if (!set) return {{}, set.error().message};
  if (set->kind == RankSet::Kind::kSurvivors) return survivors(spec, facts);
  const std::string fault = read_text(spec.params, "fault", read_text(spec.params, "after"));
  ChosenRanks chosen;
  chosen.ranks = resolve(*set, facts.plan.scenario.workload.ranks, victims_of(facts, fault));
  if (chosen.ranks.empty()) chosen.why = "no rank is selected";
  return chosen;
}

int last_attempt(const RunFacts& facts) {
  int attempt = facts.timeline.attempt;
  for (const auto& begun : lines_of<events::AttemptBegin>(facts.journal))
    attempt = std::max(attempt, begun->attempt);
  return attempt;
}

namespace {

const ProcessView* view_of(const RunFacts& facts, const ProcessId& id) {
  for (const ProcessView& process : facts.timeline.processes)
    if (process.id == id) return &process;
  return nullptr;
}

bool by_itself(const RunFacts& facts, const RankEnd& end) {
  return !is_known(facts.teardown) || end.time <= facts.teardown;
}

}  // namespace

// Several processes may have had the number of the rank. A member's end takes precedence over a candidate's.
// While a member has not ended, the rank has no end.
const RankEnd* end_of(const RunFacts& facts, int rank, int attempt) {
  for (const ProcessView* process : processes_of(facts, rank))
    if (process->attempt == attempt && process->stage >= RF_STAGE_MEMBER && !end_of(facts, process->id))
      return nullptr;
  const RankEnd* best = nullptr;
  int best_stage = -1;
  for (const RankEnd& end : facts.ends) {
    if (end.rank != rank || end.attempt != attempt || !by_itself(facts, end)) continue;
    const ProcessView* view = view_of(facts, end.process);
    if (view && view->helper) continue;
    const int stage = view ? static_cast<int>(view->stage) : 0;
    if (stage > best_stage || (stage == best_stage && end.time > best->time)) {
      best = &end;
      best_stage = stage;
    }
  }
  return best;
}

const RankEnd* end_of(const RunFacts& facts, const ProcessId& process) {
  for (const RankEnd& end : facts.ends)
    if (end.process == process && by_itself(facts, end)) return &end;
  return nullptr;
}

std::vector<uint64_t> end_lines(const RunFacts& facts, int rank, int attempt) {
  return numbers_of(lines_of<events::RankEnd>(
      facts.journal, [&](const events::RankEnd& end) { return end.rank == rank && end.attempt == attempt; }));
}

std::string end_text(const RankEnd* end) {
  if (!end) return "did not end by itself";
  switch (end->status.kind) {
    case ExitStatus::Kind::kCode:
      return fmt::format("exited {}", end->status.value);
    case ExitStatus::Kind::kSignal:
      return "ended by " + signal_name(end->status.value);
    case ExitStatus::Kind::kUnknown:
      break;
  }
  return "died, status unknown";
}

std::vector<const ProcessView*> processes_of(const RunFacts& facts, int rank) {
  std::vector<const ProcessView*> out;
  for (const ProcessView& process : facts.timeline.processes)
    if (process.rank == rank && !process.helper &&
        (process.stage >= RF_STAGE_MEMBER || process.steps_begun != 0))
      out.push_back(&process);
  return out;
}

std::vector<uint64_t> starved_meanwhile(const RunFacts& facts, Instant from, Duration allowed, Instant came) {
  const Duration delay = lasted(from + allowed, came);
  std::vector<uint64_t> lines;
  Duration late_in_all{};
  for (const auto& starved : lines_of<events::Starved>(facts.journal)) {
    const Duration late = starved->late_ns;
    const Instant since = starved->since.value_or(std::max(starved.t - late, Instant{}));
    // The line is written up to a second after the lateness that it reports, in a long run much later.
    const Instant begin = std::max(since, from), end = std::min(starved->until.value_or(starved.t), came);
    if (begin >= end) continue;
    // A line may sum up more lateness than that.
    late_in_all = std::min(late_in_all + std::min(late, end - begin), kLongestDuration);
    lines.push_back(starved.n);
  }
  if (late_in_all <= std::max(allowed, delay) / 10) lines.clear();
  return lines;
}

std::string span_text(Instant from, Instant to) { return to_text(lasted(from, to)); }

}  // namespace rankfault
