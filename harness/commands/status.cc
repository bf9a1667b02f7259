// status: `rankfault status RUN`: where every rank of a live job is, from the files of its run alone.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/base/printable.h"
#include "harness/base/process_tree.h"
#include "harness/commands/command.h"
#include "harness/diagnose/finding.h"
#include "harness/journal/journal.h"
#include "harness/observe/observer.h"
#include "harness/run_dir/run_dir.h"
#include "reports/one_screen.h"
#include "reports/rank_table.h"
#include "reports/status_json.h"
#include "reports/words.h"

namespace rankfault {
namespace {

constexpr size_t kRows = 64;

struct Options {
  std::string run;
  bool json = false;
};

int fail(const Error& error) {
  fmt::print(stderr, "rankfault status: {}\n", error.to_string());
  return exit_of(error);
}

// What the state of the run's directory means for who asks.
std::string state_line(const std::string& run, RunState state, const Timeline& timeline, Instant now) {
  const std::string ranks =
      fmt::format("{} rank{}", timeline.world_size, timeline.world_size == 1 ? "" : "s");
  switch (state) {
    case RunState::kLive:
      return fmt::format("{} for {}, attempt {}", ranks, seconds_text(now - timeline.begin),
                         timeline.attempt);
    case RunState::kComplete:
      return fmt::format("{}; the run is over: rankfault report {}", ranks, run);
    case RunState::kDead:
      return fmt::format(
          "{}; the rankfault of this run was killed, and this ends what is left of the job: rankfault clean "
          "{}",
          ranks, run);
  }
  return "";
}

const char* word(RunState state) {
  return state == RunState::kLive ? "live" : state == RunState::kComplete ? "over" : "dead";
}

// The files do not say whether a process is stopped now.
void note_stopped(Timeline& timeline) {
  for (ProcessView& process : timeline.processes)
    if (const auto now = proc_stat(process.id.pid); now && is_visible_here(process.id))
      process.stopped = now->start == process.id.start && now->state == 'T';
}

int status_of(const Options& options) {
  const Result<Json> known = read_json(options.run + "/state.json");
  if (!known)
    return fail(usage_error(
        fmt::format("{} is not a run: it has no state.json that can be read", printable(options.run))));
  const RunState state = run_state(options.run);
  const Result<JournalLines> journal = read_journal(options.run + "/journal.ndjson");
  if (!journal) return fail(journal.error());
  Result<Timeline> timeline = final_timeline(options.run, Histories::kInFiles);
  if (!timeline) return fail(timeline.error());
  note_stopped(*timeline);
  const Instant now = state == RunState::kLive ? HostClock::now() : timeline->look;
  const Findings findings = findings_from_journal(*journal);
  const std::vector<RankPlace> places = rank_places(*timeline, now);
  if (options.json) {
    fmt::print(
        "{}\n",
        status_json(word(state), places, findings).dump(2, ' ', false, Json::error_handler_t::replace));
    return kExitPass;
  }
  const size_t columns = screen_of_output().value_or(Screen{0, 0}).columns;
  fmt::print("{}\n{}", state_line(options.run, state, *timeline, now), rank_table(places, columns, kRows));
  const bool trouble = std::any_of(findings.all.begin(), findings.all.end(),
                                   [](const Finding& f) { return names_trouble(f); });
  if (trouble) fmt::print("{}", findings_text(findings));
  return kExitPass;
}

const Registration<CliCommand> kStatus{{
    "status",
    "Show where every rank of a live job is, and what was found so far",
    "Examples:\n  rankfault status rankfault-runs/watch-20261127-191415\n"
    "  rankfault status --json rankfault-runs/watch-20261127-191415\n\n"
    "status reads the files of the run, and disturbs neither the job nor the rankfault that runs it. That\n"
    "rankfault prints the same table to standard error when it gets SIGUSR1, except run with --jobs or with\n"
    "several sizes.\n"
    "Exit status: 0, or 64 when the directory is not a run.",
    [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("run", options->run, "the run directory")->required();
      app.add_flag("--json", options->json, "print JSON (schema: status.v1)");
      return [options] { return status_of(*options); };
    },
}};

}  // namespace
}  // namespace rankfault
