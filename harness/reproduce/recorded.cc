#include "harness/reproduce/recorded.h"

#include <filesystem>
#include <set>

#include "harness/facts/diagnosed_run.h"
#include "harness/flight_recorder/fr_job.h"

namespace rankfault {
namespace {

// A look at which another first cause appeared.
struct Turn {
  Timeline timeline;
  Finding cause;
};

bool same_cause(const Finding& a, const Finding& b) { return a.kind == b.kind && a.ranks == b.ranks; }

}  // namespace

bool is_run_directory(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path + "/journal.ndjson", none);
}

Result<RecordedJob> recorded_run(const std::string& run_dir) {
  std::vector<Turn> turns;
  RecordedJob job{.kind = "run"};
  Result<DiagnosedRun> run = diagnose_run(run_dir, [&](Timeline&& timeline, const Findings& found) {
    if (turns.empty() || !same_cause(turns.back().cause, found.all.at(0)))
      turns.push_back({timeline, found.all[0]});
    job.last = std::move(timeline);
  });
  if (!run) return run.error();
  job.findings = std::move(run->findings.all);
  job.notes = std::move(run->unread);
  job.timeline = job.last;
  for (Turn& turn : turns) {
    if (!same_cause(turn.cause, job.findings.at(0))) continue;
    job.timeline = std::move(turn.timeline);
    job.findings[0] = std::move(turn.cause);  // as that look saw it: its sides are of that time
    break;
  }
  return job;
}

Result<RecordedJob> recorded_dumps(const std::vector<std::string>& paths) {
  Result<FrJob> read = read_fr_job(paths);
  if (!read) return read.error();
  RecordedJob job{.kind = "flight_recorder", .timeline = std::move(read->timeline)};
  for (const FrEvidence& e : read->evidence)
    if (e.kind != FrEvidence::Kind::kLeftOut) job.notes.push_back(e.path.empty() ? e.what : e.to_string());
  if (!read->not_one_job.empty()) return usage_error(read->not_one_job);
  job.findings = diagnose(job.timeline).all;
  return job;
}

Result<Timeline> whole_dumps(const std::vector<std::string>& paths, const std::vector<int>& ranks) {
  const Result<FrSources> sources = find_dumps(paths);
  if (!sources) return sources.error();
  const std::set<int64_t> wanted(ranks.begin(), ranks.end());
  std::vector<std::string> files;
  for (const FrSource& source : sources->sources)
    if (wanted.count(source.rank) > 0) files.push_back(source.path);
  if (files.empty()) files = paths;  // the ranks stand in the dumps, not in their names
  Result<FrJob> job = read_fr_job(files, {}, FrHistory::kWhole);
  if (!job) return job.error();
  return std::move(job->timeline);
}

}  // namespace rankfault
