#include "harness/live/live_run.h"

#include <algorithm>

#include "harness/launch/origin.h"
#include "harness/live/room.h"
#include "harness/plan/external_act.h"

namespace rankfault {
namespace {

// A park never lasts longer than a tenth of the smallest known limit.
Duration park_limit(const Plan& plan) {
  return std::min<Duration>(2s, plan.scenario.workload.limits.wall / 10);
}

Result<LiveRun> open_in(RunDir& dir, const Plan& plan, bool recorded) {
  if (const Status room = room_for(dir.path(), recorded ? plan.scenario.workload.ranks : 0); !room)
    return room.error();
  if (const Status written = dir.write_secret_json("plan.json", to_json(plan)); !written)
    return written.error();
  const Origin origin = origin_of(plan.scenario.workload.command, plan.scenario.file);
  if (const Status written = dir.write_secret_json("origin.json", to_json(origin)); !written)
    return written.error();
  RunLog log(dir.file("tool.log"));
  for (const std::string& note : plan.notes) tool_log(LogLevel::kInfo, "plan: {}", note);
  Result<Journal> journal = Journal::create(dir.file("journal.ndjson"));
  if (!journal) return journal.error();
  Result<ControlPage> page =
      ControlPage::create(dir.control(), plan.scenario.workload.ranks, park_limit(plan));
  if (!page) return page.error();
  Result<UndoList> undo = UndoList::open(dir.undo());
  if (!undo) return undo.error();
  HostObjects host(dir);
  Result<Guardian> guardian = Guardian::start(dir, small_folders(plan, dir.tmp()));
  if (!guardian) return guardian.error();
  std::unique_ptr<Observer> observer = make_observer({dir.records()}, instant_of((*page)->run_started_ns));
  return LiveRun{std::move(dir),
                 std::move(log),
                 std::move(*journal),
                 std::move(*page),
                 std::move(*undo),
                 std::move(*guardian),
                 std::move(observer),
                 false,
                 false,
                 0,
                 {},
                 std::move(host)};
}

}  // namespace

std::vector<SmallFolder> small_folders(const Plan& plan, const std::string& tmp) {
  std::vector<SmallFolder> folders;
  for (const Action& action : plan.actions)
    if (action.outside == kMountAct)
      folders.push_back(
          {action.path == kShmFolder ? kShmFolder : tmp + "/" + action.path, action.size, action.fault});
  return folders;
}

Result<LiveRun> open_run(const Plan& plan, const std::string& run_dir, RunKind kind, bool recorded) {
  Result<RunDir> dir = RunDir::create(run_dir, plan.scenario.name, kind);
  if (!dir) return dir.error();
  Result<LiveRun> opened = open_in(*dir, plan, recorded);
  if (opened) return opened;
  Error error = opened.error();
  if (const std::string left = dir->discard(); !left.empty()) error.message += "; " + left;
  return error;
}

void close_run(LiveRun& run, bool is_clean) {
  run.journal.give_back_room();
  give_back_room(run.dir.logs());
  if (!is_clean) return;
  if (const Status written = run.dir.complete(); !written)
    run.lost.push_back(written.error().message + "; the run counts as incomplete");
}

}  // namespace rankfault
