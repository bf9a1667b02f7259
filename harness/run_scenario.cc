// run_scenario: one run: scenario -> plan -> launch -> inject -> observe -> diagnose -> judge -> report. Only
// launch, inject, observe and the run directory read or change anything outside this process.
#include "harness/run_scenario.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "harness/judge/oracle.h"
#include "harness/launch/changes_to_job.h"
#include "harness/launch/needs.h"
#include "harness/launch/plain_path.h"
#include "harness/live/attempt_loop.h"
#include "harness/live/census.h"
#include "harness/live/checks.h"
#include "harness/live/cuda_folder.h"
#include "harness/live/live_run.h"
#include "harness/live/log_markers.h"
#include "harness/live/made_files.h"
#include "harness/live/no_rank.h"
#include "harness/live/room.h"
#include "harness/live/run_header.h"
#include "harness/plan/arming.h"

namespace rankfault {
namespace {

struct Where {  // the files of rankfault that a run needs
  std::string bin_dir, agent;
  std::vector<std::string> extra_preload;
  std::optional<CudaDouble> cuda;
};

Result<Where> where_we_are(const Plan& plan, bool with_agent) {
  Where where;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path lib = self.parent_path().parent_path() / "lib";
  where.bin_dir = self.parent_path().string();
  if (with_agent) {
    where.agent = (lib / "librankfault_agent.so").string();
    for (const std::string& extra : plan.preload)
      where.extra_preload.push_back((lib / ("librankfault_" + extra + ".so")).string());
  }
  if (!plan.scenario.workload.cuda_double) return where;
  Result<CudaDouble> cuda = choose_cuda_double(plan.scenario.workload, where.bin_dir);
  if (!cuda) return cuda.error();
  where.cuda = std::move(*cuda);
  return where;
}

// LD_PRELOAD is split at blanks, colons and semicolons. If the paths contain one, replaces them by paths
// through a link in `tmp`.
Status give_plain_paths(Where& where, const std::string& tmp) {
  const std::string lib = (std::filesystem::path(where.bin_dir).parent_path() / "lib").string();
  const Result<std::string> plain = plain_folder(lib, tmp);
  if (!plain) return plain.error();
  const auto replace = [&](std::string& path) {
    if (path.starts_with(lib + "/")) path = *plain + path.substr(lib.size());
  };
  replace(where.agent);
  for (std::string& object : where.extra_preload) replace(object);
  if (where.cuda) replace(where.cuda->library);
  if (where.cuda) replace(where.cuda->folder);
  return Done{};
}

const char* teardown_word(AttemptEnd end) {
  switch (end) {
    case AttemptEnd::kOver:
      return "over";
    case AttemptEnd::kWall:
      return "wall";
    case AttemptEnd::kDecided:
      return "decided";
    case AttemptEnd::kInterrupted:
      return "interrupted";
    case AttemptEnd::kGuardianLost:
      return "guardian_lost";
  }
  return "";
}

// Runs all attempts. Processes that still run at the end of the last attempt keep running.
Result<AttemptEnd> run_attempts(const Plan& plan, Where where, LiveRun& run, const RunOptions& options,
                                LiveParts parts, EvidenceTaker& taker, const Launcher& launcher) {
  const Workload& workload = plan.scenario.workload;
  if (const Status plain = give_plain_paths(where, run.dir.tmp()); !plain) return plain.error();
  const TimeNs wall_end = now_ns() + static_cast<TimeNs>(workload.wall.count());
  for (int attempt = 0;; ++attempt) {
    run.journal.write("attempt_begin", {{"attempt", attempt}});
    run.attempt = attempt;
    parts.injector.begin_attempt(attempt);
    arm(plan, attempt, *run.page.get());
    const LaunchContext context{plan,
                                run.dir,
                                attempt,
                                where.bin_dir,
                                where.agent,
                                where.extra_preload,
                                where.cuda ? &*where.cuda : nullptr};
    if (const Status met = open_cuda_folder(context); !met) return met.error();
    if (const Status runs = check_workload(context); !runs) return runs.error();
    if (const Status check = checks_can_start(context); !check) return check.error();
    const Result<std::vector<LaunchItem>> items = launcher.items(context);
    if (!items) return items.error();

    if (options.progress && !run.launched) options.progress("run " + run.dir.path());
    run.launched = true;
    reserve_logs(*items);
    AttemptLoop loop(parts, attempt, workload.ranks, wall_end, launcher.restarts_ranks);
    const auto decided = [&] {
      if (!options.watch) {
        run.observer->save(run.observer->look(false));  // all_decided() reads files
        return all_decided(plan, run.dir.path());
      }
      return options.watch->end_on_finding && cannot_go_on(parts.looks.findings().result());
    };
    if (options.progress && options.watch && options.watch->verbose)
      for (const LaunchItem& item : *items)
        for (const std::string& line : changes_to_job(item.command)) options.progress(line);
    Result<AttemptEnd> end = loop.run(*items, decided, options.interrupted);
    run.over = loop.all_ended();
    if (!end) return end.error();
    if (*end == AttemptEnd::kWall) taker.take(run.observer->look(false), {});  // it hangs, and is ended next

    if (const Status collected = launcher.collect_logs(context); !collected)
      run.lost.push_back("the ranks' output: " + collected.error().message);
    for (const ReportedEnd& told : launcher.reported(context, loop.worst())) parts.ends.reported(told);
    for (const RankEnd& late : parts.ends.collect()) parts.observer.set_end(late);
    parts.looks.last_look(teardown_word(*end));
    journal_losses(*run.observer, run.journal);
    journal_not_computed(context, run.journal);
    journal_no_rank(context, run.observer->look(false), loop.worst(), run.journal);
    run.journal.write(
        "attempt_end",
        {{"attempt", attempt}, {"end", teardown_word(*end)}, {"status", loop.worst().to_string()}});
    if (*end != AttemptEnd::kOver || loop.worst().zero() || attempt >= workload.restarts) return end;
    if (options.progress)
      options.progress(
          fmt::format("attempt {} ended with {}; restarting", attempt, loop.worst().to_string()));
  }
}

// The limit for a look of the guardian before a fault ends a process. The victim is parked meanwhile, so the
// injector does not wait longer for a guardian that gets no processor time.
constexpr Duration kLookBeforeAnEnd = std::chrono::milliseconds(200);

bool loads_a_core(const Plan& plan) {
  return std::any_of(plan.actions.begin(), plan.actions.end(),
                     [](const Action& action) { return action.outside == OutsideVerb::kLoad; });
}

// The time that a watched job has to end by itself when it is asked to, so that its launcher removes what it
// made.
constexpr Duration kGrace = std::chrono::seconds(3);

void ask_to_end(const RunOptions& options, LiveRun& run) {
  const int asked = options.interrupted ? options.interrupted->load() : 0;
  (void)run.guardian.end_all(asked ? asked : SIGTERM, kGrace);
}

// The limit for the guardian's last look, before its list is read. A list that it could not finish shows
// nothing.
constexpr Duration kCensusLimit = std::chrono::seconds(10);

void look_at_what_is_left(const RunOptions& options, LiveRun& run) {
  if (const Status asked = run.guardian.census(kCensusLimit); !asked) {
    run.journal.write("census_unanswered", {{"why", asked.error().to_string()}});
    if (options.progress)
      options.progress("rankfault does not know what the job left behind: " + asked.error().to_string());
  }
  take_census(run.dir, run.guardian.pid(), run.host, options.watch ? nullptr : &run.undo, run.journal);
}

// Takes the census, runs the user's checks, ends the remaining processes, and undoes the changes to the host.
// Returns what could not be undone; "": nothing.
std::string take_down(const Plan& plan, const Where& where, const RunOptions& options, LiveRun& run,
                      AttemptEnd end) {
  const bool over = end == AttemptEnd::kOver;
  run.journal.write("teardown", {{"reason", teardown_word(end)}});
  const Status quiet = loads_a_core(plan) ? run.guardian.unload() : Done{};  // not processes of the job
  const Status listed =
      where.extra_preload.empty()
          ? Done{}
          : list_made_files(run.observer->look(false), run.guardian.pid(), run.dir.undo(), run.undo);
  if (over) look_at_what_is_left(options, run);
  if (run.launched)
    run_checks({plan, run.dir, run.attempt, where.bin_dir, "", {}}, over, options.interrupted, run.guardian,
               run.journal);
  const bool leave = options.watch && over && run.over;
  if (options.watch && run.launched && !leave && end != AttemptEnd::kGuardianLost) ask_to_end(options, run);
  // The guardian stops all ranks before it releases those that are parked.
  const Result<Undone> undone =
      run.guardian.quit(leave ? JobEnd::kEndedByItself : JobEnd::kEndIt, options.progress);
  if (const int times = run.guardian.times_stopped(); times > 0) {
    run.journal.write("guardian_stopped", {{"times", times}});
    run.lost.push_back(
        "rankfault-guardian was stopped for a time: files that the job made meanwhile may be left");
  }
  Json lines = Json::array();
  std::string left;
  for (const Status* status : {&quiet, &listed})
    if (!*status) {
      left = status->error().to_string();
      lines.push_back(left);
    }
  if (!undone) {
    lines.push_back(undone.error().to_string());
    left = fmt::format("{}: rankfault clean {} finishes it", undone.error().to_string(), run.dir.path());
  } else {
    for (const std::string& line : undone->failed) {
      lines.push_back(line);
      left += (left.empty() ? "" : "; ") + line;
    }
  }
  run.journal.write("cleanup",
                    {{"failed", lines}, {"left", undone ? undone->left : std::vector<std::string>{}}});
  return left;
}

// After the job ran, no error is a mistake of the user.
Error cannot_be_judged(const Error& why, const std::string& left) {
  return unjudged("the job ran, and its run cannot be judged: " + why.to_string() +
                  (left.empty() ? "" : "; left: " + left));
}

Result<FinishedRun> judged(const Plan& plan, LiveRun& run, const std::string& left) {
  Result<FinishedRun> finished = judge_finished(run.dir.path());
  if (!finished) return cannot_be_judged(finished.error(), left);
  RunReport& report = finished->report;
  report.scenario = plan.scenario.name;
  report.file = plan.scenario.file;
  report.cleanup = left;
  if (const Status written = run.dir.write_json("result.json", result_json(report)); !written)
    run.lost.push_back(written.error().message);
  if (run.journal.lost() > 0)
    run.lost.push_back(fmt::format("{} of {} lines of the journal: {}", run.journal.lost(),
                                   run.journal.lines(), run.journal.why_lost()));
  report.lost = std::move(run.lost);
  return finished;
}

const Launcher& launcher_of(const Plan& plan) {
  const Launcher* launcher =
      Catalog<Launcher>::instance().find(launcher_name(plan.scenario.workload.launcher));
  RF_ASSERT(launcher, "a scenario named a launcher that is not registered");
  return *launcher;
}

}  // namespace

Status can_start(const Plan& plan, bool with_agent) {
  if (const Status there = launcher_of(plan).probe(plan.scenario.workload); !there) return there;
  const std::string bin = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  if (const Status met = needs_met(plan.scenario.workload, bin, with_agent); !met) return met;
  if (const Result<Where> where = where_we_are(plan, with_agent); !where) return where.error();
  return small_folders(plan, "").empty() ? Status(Done{}) : may_mount();
}

Result<FinishedRun> run_scenario(const Plan& plan, const RunOptions& options) {
  if (const Status may = can_start(plan, options.with_agent); !may) return may.error();
  const Result<Where> where = where_we_are(plan, options.with_agent);
  if (!where) return where.error();

  Result<LiveRun> opened =
      open_run(plan, options.run_dir, options.watch ? RunKind::kWatch : RunKind::kRun, options.with_agent);
  if (!opened) return opened.error();
  LiveRun& run = *opened;
  const AllDescriptors descriptors;
  journal_run_begin(plan, options.reference_run, diagnose_options(plan.scenario.workload),
                    where->cuda ? where->cuda->nccl : "", run.journal);
  for (const SmallFolder& folder : small_folders(plan, run.dir.tmp()))
    run.journal.write("mounted", {{"fault", folder.fault}, {"path", folder.path}, {"bytes", folder.bytes}});

  Result<AttemptEnd> end = AttemptEnd::kOver;
  {
    Injector injector(
        plan, run.page, run.journal, run.undo, run.guardian.pid(),
        [&run] { (void)run.guardian.census(kLookBeforeAnEnd); }, run.dir.tmp(),
        [&run](uint32_t tag, int pid, int per_core) { return run.guardian.load(tag, pid, per_core); });
    Promptness promptness(realtime_wanted());
    Doorbell doorbell(run.page.get(), {[&] { promptness.enter(); }, [&] { promptness.lend(); },
                                       [&] { promptness.worked(); }});
    Ends ends(run.journal, injector, run.dir.records(), promptness);
    EvidenceTaker taker(run.dir, run.guardian.pid(), run.journal, options.interrupted);
    Looks looks(*run.observer, run.journal, look_options(plan.scenario.workload, options.watch, taker));
    end = run_attempts(plan, *where, run, options,
                       {run.guardian, *run.observer, injector, doorbell, promptness, run.journal, ends, looks,
                        run.host, options.watch ? nullptr : &run.undo},
                       taker, launcher_of(plan));
    injector.finish();
  }
  journal_log_markers(plan, run.dir, run.journal);
  const std::string left = take_down(plan, *where, options, run, end ? *end : AttemptEnd::kInterrupted);
  run.journal.write("run_end", Json::object());
  // The undo list keeps what is left, so that `rankfault clean` can finish the run.
  close_run(run, left.empty());
  if (!end && !run.launched && left.empty()) (void)run.dir.discard();
  if (!end) return end.error();
  return judged(plan, run, left);
}

}  // namespace rankfault
