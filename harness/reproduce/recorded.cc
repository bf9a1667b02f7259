#include "harness/reproduce/recorded.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/flight_recorder/fr_job.h"
#include "harness/journal/journal.h"
#include "harness/observe/observer.h"

namespace rankfault {
namespace {

bool same_cause(const Findings& found, const Finding& cause) {
  return !found.all.empty() && found.all[0].kind == cause.kind && found.all[0].ranks == cause.ranks;
}

DiagnoseOptions options_of(const JournalLines& journal) {
  DiagnoseOptions options;
  for (const JournalLine& line : journal)
    if (const auto* run = line.as<events::RunBegin>())
      options = {run->slow_after_ns.value_or(options.slow_after),
                 run->hung_after_ns.value_or(options.hung_after)};
  return options;
}

}  // namespace

bool is_run_directory(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path + "/journal.ndjson", none);
}

Result<RecordedJob> recorded_run(const std::string& run_dir) {
  const Result<JournalLines> journal = read_journal(run_dir + "/journal.ndjson");
  if (!journal) return journal.error();
  const DiagnoseOptions options = options_of(*journal);
  RunRecords records(run_dir);
  FindingsLog log;
  std::vector<const events::Look*> looks;
  for (const JournalLine& line : *journal)
    if (const auto* look = line.as<events::Look>()) {
      const Result<Timeline> timeline = records.at_look(*look);
      if (!timeline) return timeline.error();
      log.add(diagnose(*timeline, options), look->last);
      looks.push_back(look);
    }
  RecordedJob job{.kind = "run"};
  if (looks.empty()) {
    Result<Timeline> timeline = final_timeline(run_dir);
    if (!timeline) return timeline.error();
    job.timeline = std::move(*timeline);
    job.findings = diagnose(canonical(job.timeline), options).all;
    return job;
  }
  job.findings = log.result().all;
  if (Result<Timeline> last = records.at_look(*looks.back())) job.last = std::move(*last);
  for (const events::Look* look : looks) {
    Result<Timeline> timeline = records.at_look(*look);
    if (!timeline) return timeline.error();
    const Findings found = diagnose(*timeline, options);
    job.timeline = std::move(*timeline);
    if (!same_cause(found, job.findings.at(0))) continue;
    job.findings.at(0) = found.all[0];  // as that look saw it: its sides are of that time
    break;
  }
  job.notes = records.unread();
  if (std::none_of(journal->begin(), journal->end(),
                   [](const JournalLine& line) { return line.as<events::RunEnd>(); }))
    job.notes.emplace_back("the journal ends before the run did: what happened later is not known");
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
