#include "harness/live/attempts.h"

#include <fmt/format.h>

#include "harness/judge/oracle.h"
#include "harness/launch/changes_to_job.h"
#include "harness/live/checks.h"
#include "harness/live/cuda_folder.h"
#include "harness/live/no_rank.h"
#include "harness/live/room.h"
#include "harness/live/run_header.h"
#include "harness/plan/arming.h"

namespace rankfault {
namespace {

// Checks what this attempt needs, and returns what the launcher starts.
Result<std::vector<LaunchItem>> prepare(const LaunchContext& context, const Launcher& launcher) {
  if (const Status met = open_cuda_folder(context); !met) return met.error();
  if (const Status runs = check_workload(context); !runs) return runs.error();
  if (const Status check = checks_can_start(context); !check) return check.error();
  return launcher.items(context);
}

void report_start(const std::vector<LaunchItem>& items, const LiveRun& run, const RunOptions& options) {
  if (!options.progress) return;
  if (!run.launched) options.progress("run " + run.dir.path());
  if (!options.watch || !options.watch->verbose) return;
  for (const LaunchItem& item : items)
    for (const std::string& line : changes_to_job(item.command)) options.progress(line);
}

// Whether the attempt can end now: nothing can change the verdict any more, or the watched job hangs.
bool is_decided(const Plan& plan, const LiveRun& run, const RunOptions& options, const DiagnosisLoop& looks) {
  if (options.enough && options.enough(looks.findings().result())) return true;
  if (options.watch) return options.watch->end_on_finding && cannot_go_on(looks.findings().result());
  run.observer->save(run.observer->look(false));  // all_decided() reads files
  return all_decided(plan, run.dir.path());
}

// Takes what the launcher says about its ranks, looks for the last time, and journals the end.
void close_attempt(const LaunchContext& context, const Launcher& launcher, LiveRun& run, LiveParts& parts,
                   AttemptEnd end, ExitStatus worst) {
  if (const Status collected = launcher.collect_logs(context); !collected)
    run.lost.push_back("the ranks' output: " + collected.error().message);
  for (const ReportedEnd& reported : launcher.reported(context, worst)) parts.ends.reported(reported);
  for (const RankEnd& late : parts.ends.collect()) parts.observer.set_end(late);
  parts.looks.last_look(to_text(end));
  journal_losses(*run.observer, run.journal);
  journal_not_computed(context, run.journal);
  journal_no_rank(context, run.observer->look(false), worst, run.journal);
  run.journal.write(
      events::AttemptEnd{.attempt = context.attempt, .end = to_text(end), .status = worst.to_string()});
}

}  // namespace

Result<AttemptEnd> run_attempts(const Plan& plan, InstalledFiles files, LiveRun& run,
                                const RunOptions& options, LiveParts parts, EvidenceTaker& taker,
                                const Launcher& launcher, const NodeChannel* channel) {
  const Workload& workload = plan.scenario.workload;
  if (const Status plain = give_plain_paths(files, run.dir.tmp()); !plain) return plain.error();
  const Instant wall_end = HostClock::now() + workload.limits.wall;
  for (int attempt = 0;; ++attempt) {
    run.journal.write(events::AttemptBegin{attempt});
    run.attempt = attempt;
    parts.injector.begin_attempt(attempt);
    arm(plan, attempt, *run.page.get());
    const LaunchContext context{plan,
                                run.dir,
                                attempt,
                                files.bin_dir,
                                files.agent,
                                files.extra_preload,
                                files.cuda ? &*files.cuda : nullptr,
                                channel};
    const Result<std::vector<LaunchItem>> items = prepare(context, launcher);
    if (!items) return items.error();
    report_start(*items, run, options);
    run.launched = true;
    reserve_logs(*items);
    AttemptLoop loop(parts, attempt, workload.ranks, wall_end, launcher.restarts_ranks);
    const auto decided = [&] { return is_decided(plan, run, options, parts.looks); };
    Result<AttemptEnd> end = loop.run(*items, decided, options.interrupted);
    run.over = loop.all_ended();
    if (!end) return end.error();
    if (*end == AttemptEnd::kWall) taker.take(run.observer->look(false), {});  // it hangs, and is ended next
    close_attempt(context, launcher, run, parts, *end, loop.worst());
    if (*end != AttemptEnd::kOver || loop.worst().zero() || attempt >= workload.restarts) return end;
    if (options.progress)
      options.progress(
          fmt::format("attempt {} ended with {}; restarting", attempt, loop.worst().to_string()));
  }
}

}  // namespace rankfault
