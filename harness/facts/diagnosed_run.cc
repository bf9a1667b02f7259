#include "harness/facts/diagnosed_run.h"

#include <fmt/format.h>

#include "harness/journal/journal.h"
#include "harness/observe/observer.h"

namespace rankfault {
namespace {

// Where a part of the run is missing, nothing wrong in the rest does not mean that nothing was wrong.
void doubt(Findings& findings, const char* why) {
  if (!findings.nothing_wrong()) return;
  findings.all.front().kind = "cannot_say";
  findings.all.front().text = fmt::format("{}: {}", why, findings.all.front().text);
}

}  // namespace

Result<DiagnosedRun> diagnose_run(const std::string& run_dir, const EachLook& each) {
  Result<JournalLines> journal = read_journal(run_dir + "/journal.ndjson");
  if (!journal) return journal.error();
  RunRecords records(run_dir);
  FindingsLog log;
  DiagnoseOptions options;
  DiagnosedRun run;
  bool looked = false, ended = false;
  for (JournalLine& line : *journal) {
    ended = ended || line.as<events::RunEnd>();
    if (const auto* begin = line.as<events::RunBegin>())
      options = {begin->slow_after_ns.value_or(options.slow_after),
                 begin->hung_after_ns.value_or(options.hung_after)};
    if (const auto* history = line.as<events::History>()) run.losses = *history;
    auto* look = std::get_if<events::Look>(&line.event);
    if (!look) continue;
    Result<Timeline> timeline = records.at_look(*look);
    if (!timeline) return timeline.error();
    look->state.reset();  // frees it: it is large in a large job
    const Findings found = diagnose(*timeline, options);
    log.add(found, look->last);
    if (each) each(std::move(*timeline), found);
    looked = true;
  }
  if (!looked) {
    Result<Timeline> timeline = final_timeline(run_dir, Histories::kInFiles);
    if (!timeline) return timeline.error();
    const Findings found = diagnose(canonical(*timeline), options);
    log.add(found, true);
    if (each) each(std::move(*timeline), found);
  }
  run.findings = log.result();
  run.unread = records.unread();
  if (!ended) doubt(run.findings, "the journal ends before the run did; until then");
  if (!run.unread.empty()) doubt(run.findings, "records are missing; in the remaining records");
  return run;
}

}  // namespace rankfault
