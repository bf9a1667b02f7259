#include "harness/reproduce/reproduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/base/rank_words.h"
#include "harness/reproduce/from_clues.h"
#include "harness/reproduce/from_timeline.h"
#include "harness/reproduce/logs/log_lines.h"
#include "harness/reproduce/logs/read_log.h"
#include "harness/reproduce/recorded.h"

namespace rankfault {
namespace {

// The case of recorded ranks, with what its files could not say.
Case case_of(const RecordedJob& job, const Timeline& timeline, const EvidenceFiles& files, size_t calls) {
  Case c = case_from_timeline(timeline, job.findings, calls);
  c.evidence = files.list;
  for (const std::string& note : job.notes) c.questions.push_back(note);
  if (!c.state.proven) c.guessed.push_back("the cause is inferred: " + c.state.kind);
  return c;
}

// Only members of the group can be missing in its call.
void blame_members_alone(Case& c) {
  for (const CaseGroup& group : c.groups)
    if (group.name == c.state.group)
      std::erase_if(c.state.culprits, [&](int r) {
        return std::find(group.members.begin(), group.members.end(), r) == group.members.end();
      });
}

// Dumps of streams cannot tell ranks whose device is stuck from the only rank that left the calls out below
// PyTorch. The finding then says both, in its text alone (stuck_outside.cc).
bool has_second_reading(const HangState& state) {
  return state.text.find("did not take part in them") != std::string::npos;
}

// A few ranks without a record among many are a finding; many are missing evidence.
bool too_many_without_record(const Case& c) {
  const auto missing = std::count_if(c.state.culprits.begin(), c.state.culprits.end(), [&](int r) {
    const CaseRank* rank = c.rank(r);
    return !rank || rank->state == RankState::kUnknown;
  });
  return static_cast<size_t>(missing) > few_ranks(c.world_size);
}

// Evidence that names no rank for certain is no case.
void refuse(Case& c, const std::string& why) {
  c.questions.push_back(why);
  c.state.kind = "cannot_say";
}

// The first reading of dumps keeps the calls that are not complete. The ranks that stay are read again with
// all their calls.
Result<Case> with_whole_calls(const RecordedJob& job, const Case& whole, const std::vector<int>& keep,
                              const EvidenceFiles& files, const ReproduceOptions& options) {
  if (job.kind != "flight_recorder") return whole;
  const Result<Timeline> timeline = whole_dumps(files.dumps, keep);
  if (!timeline) return timeline.error();
  Case close = case_of(job, *timeline, files, options.calls);
  close.world_size = whole.world_size;
  close.state = whole.state;
  return close;
}

Result<Understood> from_recording(const RecordedJob& job, const EvidenceFiles& files,
                                  const ReproduceOptions& options) {
  Understood u;
  u.digest = files.digest;
  u.whole = case_of(job, job.timeline, files, options.calls);
  blame_members_alone(u.whole);
  if (u.whole.state.kind == "cannot_say")
    u.whole.questions.push_back(u.whole.state.text);
  else if (too_many_without_record(u.whole))
    refuse(u.whole, ranks_text(u.whole.state.culprits) +
                        " have no record, so none of them can be named: the dumps of all ranks are needed");
  else if (has_second_reading(u.whole.state))
    refuse(u.whole,
           "the finding has two readings, and a small job would show one of them: " + u.whole.state.text);
  u.small = u.whole;
  if (!u.whole.state.hangs()) return u;
  const std::vector<int> keep = ranks_to_keep(u.whole, options.ranks);
  const Result<Case> close = with_whole_calls(job, u.whole, keep, files, options);
  if (!close) return close.error();
  u.small = folded(*close, keep);
  return u;
}

Result<std::vector<Clue>> clues_of(const EvidenceFiles& files, const ReproduceOptions& options,
                                   std::vector<std::string>& notes) {
  std::vector<Clue> all;
  for (const std::string& path : files.logs) {
    Result<LogClues> read = read_log(path, options.log_progress);
    if (!read) return read.error();
    if (!read->cut_short.empty()) notes.push_back(read->cut_short);
    if (read->left_out > 0)
      notes.push_back(
          fmt::format("{}: {} messages beyond the first {} are left out", path, read->left_out, kMostClues));
    std::move(read->clues.begin(), read->clues.end(), std::back_inserter(all));
  }
  return all;
}

Result<Case> case_of_logs(const EvidenceFiles& files, const ReproduceOptions& options,
                          std::vector<Clue>& clues) {
  std::vector<std::string> notes;
  Result<std::vector<Clue>> read = clues_of(files, options, notes);
  if (!read) return read.error();
  clues = std::move(*read);
  std::set<int> named;
  for (const std::string& path : files.logs)
    if (const NameRank rank = log_rank_of_name(path); rank.rank >= 0 && !rank.is_local)
      named.insert(rank.rank);
  Case c = case_from_clues(clues, named, options.absent);
  c.questions.insert(c.questions.end(), notes.begin(), notes.end());
  return c;
}

Result<Understood> from_logs(const EvidenceFiles& files, const ReproduceOptions& options) {
  Understood u;
  Result<Case> whole = case_of_logs(files, options, u.clues);
  if (!whole) return whole.error();
  u.digest = files.digest;
  u.whole = std::move(*whole);
  u.whole.evidence = files.list;
  u.small = u.whole.state.hangs() ? folded(u.whole, ranks_to_keep(u.whole, options.ranks)) : u.whole;
  return u;
}

// What logs say beside a recording. The recording decides; the logs confirm it, or contradict it.
Result<Understood> with_logs(Result<Understood> u, const EvidenceFiles& files,
                             const ReproduceOptions& options) {
  if (!u || files.logs.empty()) return u;
  const Result<Case> logs = case_of_logs(files, options, u->clues);
  if (!logs) return logs.error();
  for (const std::string& known : logs->known) u->small.known.push_back(known);
  if (logs->state.hangs() && logs->state.culprits != u->whole.state.culprits)
    u->small.questions.push_back(fmt::format("the logs contradict the recording: they point to {}: {}",
                                             ranks_text(logs->state.culprits), logs->state.text));
  return u;
}

// Gloo has no pending collectives.
void block_collectives(Case& c) {
  for (CaseRank& rank : c.ranks)
    for (CaseCall& call : rank.calls)
      if (!is_message(call)) call.pending = false;
}

// Programs of NCCL itself are replayed over the double of CUDA, where it was built.
bool has_nccl_replay() {
  std::error_code none;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", none);
  return std::filesystem::exists(own.parent_path() / "replay/replay_nccl", none);
}

// On a machine without a GPU.
ReplayOver over_by_evidence(const Case& c) {
  if (c.state.kind == "host_resource") return ReplayOver::kNccl;
  if (c.state.kind == "init_stall") return ReplayOver::kGloo;  // its launcher can leave a rank out
  if (c.library == "mpi") return ReplayOver::kMpi;
  if (c.library == "gloo") return ReplayOver::kGloo;
  const bool is_run =
      std::any_of(c.evidence.begin(), c.evidence.end(), [](auto& e) { return e.kind == "run"; });
  return c.library == "nccl" && is_run && has_nccl_replay() ? ReplayOver::kNccl : ReplayOver::kC10d;
}

}  // namespace

Result<Understood> understand(const EvidenceFiles& files, const ReproduceOptions& options) {
  if (files.runs.size() > 1) return usage_error("several run directories are several jobs: name one");
  if (!files.runs.empty()) {
    const Result<RecordedJob> job = recorded_run(files.runs.front());
    if (!job) return job.error();
    return with_logs(from_recording(*job, files, options), files, options);
  }
  if (!files.dumps.empty()) {
    const Result<RecordedJob> job = recorded_dumps(files.dumps);
    if (job) return with_logs(from_recording(*job, files, options), files, options);
    if (files.logs.empty()) return job.error();  // a log may look like a dump
  }
  return from_logs(files, options);
}

Result<Written> write_scenario(const Case& small, const std::string& digest,
                               const ReproduceOptions& options) {
  Case c = small;
  if (options.count > 0) scale_counts(c, options.count);
  const ReplayOver over = options.over.value_or(over_by_evidence(c));
  if (c.state.kind == "init_stall" && over != ReplayOver::kGloo && over != ReplayOver::kNccl)
    return usage_error(
        "a rank that is never started needs --over gloo or nccl: other launchers start all ranks");
  if (over == ReplayOver::kGloo) block_collectives(c);
  Result<Replay> replay = replay_of(c);
  if (!replay) return replay.error();
  Written written;
  written.small = std::move(c);
  written.replay = std::move(*replay);
  written.form.name = options.name;
  written.form.over = over;
  written.form.evidence_digest = digest;
  written.text = scenario_text(written.small, written.replay, written.form);
  return written;
}

}  // namespace rankfault
