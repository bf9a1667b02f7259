#include "harness/live/take_down.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "harness/live/census.h"
#include "harness/live/checks.h"
#include "harness/live/made_files.h"
#include "harness/plan/external_act.h"

namespace rankfault {
namespace {

bool loads_a_core(const Plan& plan) {
  return std::any_of(plan.actions.begin(), plan.actions.end(),
                     [](const Action& action) { return action.outside == kLoadAct; });
}

// The time that a watched job has to end by itself when it is asked to, so that its launcher removes what it
// made.
constexpr Duration kGrace = 3s;

void ask_to_end(const RunOptions& options, LiveRun& run) {
  const int asked = options.interrupted ? options.interrupted->load() : 0;
  (void)run.guardian.end_all(asked ? asked : SIGTERM, kGrace);
}

// The limit for the guardian's last look, before its list is read. A list that it could not finish shows
// nothing.
constexpr Duration kCensusLimit = 10s;

void look_at_what_is_left(const RunOptions& options, LiveRun& run) {
  if (const Status asked = run.guardian.census(kCensusLimit); !asked) {
    run.journal.write(events::CensusUnanswered{asked.error().to_string()});
    if (options.progress)
      options.progress("rankfault does not know what the job left behind: " + asked.error().to_string());
  }
  take_census(run.dir, run.guardian.pid(), run.host, options.watch ? nullptr : &run.undo, run.journal);
}

// Journals what could not be undone, and returns it in words; "": nothing.
std::string journal_cleanup(const std::vector<Status>& before, const Result<Undone>& undone, LiveRun& run) {
  std::vector<std::string> lines;
  std::string left;
  const auto add = [&](const std::string& line, const std::string& in_words) {
    lines.push_back(line);
    left += (left.empty() ? "" : "; ") + in_words;
  };
  for (const Status& status : before)
    if (!status) add(status.error().to_string(), status.error().to_string());
  if (undone)
    for (const std::string& line : undone->failed) add(line, line);
  else
    add(undone.error().to_string(),
        fmt::format("{}: rankfault clean {} finishes it", undone.error().to_string(), run.dir.path()));
  run.journal.write(events::Cleanup{lines, undone ? undone->left : std::vector<std::string>{}});
  return left;
}

}  // namespace

std::string take_down(const Plan& plan, const InstalledFiles& files, const RunOptions& options, LiveRun& run,
                      AttemptEnd end) {
  const bool over = end == AttemptEnd::kOver;
  run.journal.write(events::Teardown{to_text(end)});
  const Status quiet = loads_a_core(plan) ? run.guardian.unload() : Done{};  // not processes of the job
  const Status listed =
      files.extra_preload.empty()
          ? Done{}
          : list_made_files(run.observer->look(false), run.guardian.pid(), run.dir.undo(), run.undo);
  if (over) look_at_what_is_left(options, run);
  if (run.launched)
    run_checks({plan, run.dir, run.attempt, files.bin_dir, "", {}}, over, options.interrupted, run.guardian,
               run.journal);
  const bool leave = options.watch && over && run.over;
  if (options.watch && run.launched && !leave && end != AttemptEnd::kGuardianLost) ask_to_end(options, run);
  // The guardian stops all ranks before it releases those that are parked.
  const Result<Undone> undone =
      run.guardian.quit(leave ? JobEnd::kEndedByItself : JobEnd::kEndIt, options.progress);
  if (const int times = run.guardian.times_stopped(); times > 0) {
    run.journal.write(events::GuardianStopped{times});
    run.lost.push_back(
        "rankfault-guardian was stopped for a time: files that the job made meanwhile may be left");
  }
  return journal_cleanup({quiet, listed}, undone, run);
}

}  // namespace rankfault
