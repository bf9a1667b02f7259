// run_scenario: one run: scenario -> plan -> launch -> inject -> observe -> diagnose -> judge -> report. Only
// launch, inject, observe and the run directory read or change anything outside this process.
#include "harness/run_scenario.h"

#include <fmt/format.h>

#include <filesystem>

#include "harness/base/log.h"
#include "harness/launch/installed_files.h"
#include "harness/launch/needs.h"
#include "harness/live/attempts.h"
#include "harness/live/live_run.h"
#include "harness/live/log_markers.h"
#include "harness/live/node_setup.h"
#include "harness/live/room.h"
#include "harness/live/run_header.h"
#include "harness/live/take_down.h"

namespace rankfault {
namespace {

// The limit for a look of the guardian before a fault ends a process. The victim is parked meanwhile, so the
// injector does not wait longer for a guardian that gets no processor time.
constexpr Duration kLookBeforeAnEnd = 200ms;

// The limit for the guardians of other nodes to close their connections after the job.
constexpr Duration kGuardiansLeave = 2s;

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
  tool_log(LogLevel::kInfo, "verdict: {}{}", to_text(report.judgement.verdict),
           left.empty() ? "" : "; left: " + left);
  for (const std::string& lost : report.lost) tool_log(LogLevel::kWarn, "the disk refused: {}", lost);
  return finished;
}

const Launcher& launcher_of(const Plan& plan) {
  const Launcher* launcher = Catalog<Launcher>::instance().find(to_text(plan.scenario.workload.launcher));
  RF_ASSERT(launcher, "a scenario named a launcher that is not registered");
  return *launcher;
}

// The nodes of the job; none if all ranks are on this host.
Result<NodeSetup> nodes_of(const Plan& plan, const RunOptions& options, LiveRun& run) {
  const Launcher& launcher = launcher_of(plan);
  const bool several = launcher.spans_nodes && launcher.spans_nodes(plan.scenario.workload);
  return several && options.with_agent ? open_nodes(plan, run.dir, run.journal, options.listen) : NodeSetup{};
}

Result<AttemptEnd> run_job(const Plan& plan, const InstalledFiles& files, const RunOptions& options,
                           LiveRun& run) {
  const Result<NodeSetup> remote = nodes_of(plan, options, run);
  if (!remote) return remote.error();
  RemoteNodes* nodes = remote->nodes.get();
  run.observer->set_remote(nodes);
  Injector injector(
      plan, run.page, run.journal, run.undo, run.guardian.pid(),
      [&run] { (void)run.guardian.census(kLookBeforeAnEnd); }, run.dir.tmp(),
      [&run](uint32_t tag, int pid, int per_core) { return run.guardian.load(tag, pid, per_core); });
  Promptness promptness(realtime_wanted());
  Doorbell doorbell(run.page.get(),
                    {[&] { promptness.enter(); }, [&] { promptness.lend(); }, [&] { promptness.worked(); }});
  ExitCollector ends(run.journal, &injector, run.dir.records(), promptness);
  EvidenceTaker taker(run.dir, run.guardian.pid(), run.journal, options.interrupted);
  LookOptions look = look_options(plan.scenario.workload, options.watch, taker);
  look.written = [&](bool proven) { proven ? promptness.calm() : promptness.rests(); };
  DiagnosisLoop looks(*run.observer, run.journal, std::move(look));
  const Result<AttemptEnd> end =
      run_attempts(plan, files, run, options,
                   {run.guardian, *run.observer, injector, doorbell, promptness, run.journal, ends, looks,
                    run.host, options.watch ? nullptr : &run.undo, options.view, nodes},
                   taker, launcher_of(plan), nodes ? &remote->channel : nullptr);
  injector.finish();
  if (nodes) nodes->quit(kGuardiansLeave);
  run.observer->set_remote(nullptr);
  return end;
}

}  // namespace

Status can_start(const Plan& plan, bool with_agent) {
  if (const Status there = launcher_of(plan).probe(plan.scenario.workload); !there) return there;
  const std::string bin = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  if (const Status met = needs_met(plan.scenario.workload, bin, with_agent); !met) return met;
  if (const Result<InstalledFiles> files = find_installed_files(plan, with_agent); !files)
    return files.error();
  return small_folders(plan, "").empty() ? Status(Done{}) : may_mount();
}

Result<FinishedRun> run_scenario(const Plan& plan, const RunOptions& options) {
  if (const Status may = can_start(plan, options.with_agent); !may) return may.error();
  const Result<InstalledFiles> files = find_installed_files(plan, options.with_agent);
  if (!files) return files.error();

  Result<LiveRun> opened =
      open_run(plan, options.run_dir, options.watch ? RunKind::kWatch : RunKind::kRun, options.with_agent);
  if (!opened) return opened.error();
  LiveRun& run = *opened;
  const AllDescriptors descriptors;
  journal_run_begin(plan, options.reference_run, diagnose_options(plan.scenario.workload.limits),
                    files->cuda ? files->cuda->nccl : "", run.journal);
  for (const SmallFolder& folder : small_folders(plan, run.dir.tmp()))
    run.journal.write(events::Mounted{folder.fault, folder.path, folder.bytes});

  const Result<AttemptEnd> end = run_job(plan, *files, options, run);
  journal_log_markers(plan, run.dir, run.journal);
  const std::string left = take_down(plan, *files, options, run, end ? *end : AttemptEnd::kInterrupted);
  run.journal.write(events::RunEnd{});
  // The undo list keeps what is left, so that `rankfault clean` can finish the run.
  close_run(run, left.empty());
  if (!end && !run.launched && left.empty()) (void)run.dir.discard();
  if (!end) return end.error();
  return judged(plan, run, left);
}

}  // namespace rankfault
