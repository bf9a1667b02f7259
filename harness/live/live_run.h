// LiveRun: everything a run owns while it lives, from its directory to its guardian.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/inject/control_page.h"
#include "harness/inject/undo_list.h"
#include "harness/launch/guardian.h"
#include "harness/live/host_objects.h"
#include "harness/observe/observer.h"
#include "harness/plan/plan.h"
#include "harness/run/journal.h"
#include "harness/run/run_dir.h"

namespace rankfault {

struct LiveRun {  // in the order in which it is made; taken down in the reverse
  RunDir dir;
  Journal journal;
  ControlPage page;
  UndoList undo;
  Guardian guardian;
  std::unique_ptr<Observer> observer;
  bool launched = false;          // something of the job was asked to start
  bool over = false;              // all that was started came to its end by itself
  int attempt = 0;                // the one that runs, or ran last
  std::vector<std::string> lost;  // what the disk refused, in words
  HostObjects host;
};

// The file systems that the plan's faults ask for; `tmp` is the job's TMPDIR.
std::vector<SmallFolder> small_folders(const Plan&, const std::string& tmp);

// Makes all of it, or nothing: after an error neither a run directory nor a TMPDIR is left, else the error
// says so. `run_dir` and the kind: as in RunDir::create. `recorded`: the ranks will write flight records.
Result<LiveRun> open_run(const Plan&, const std::string& run_dir, RunKind, bool recorded);

// After the last line of the journal: gives back the room on the disk that was reserved and not used, and,
// when nothing is left to clean, marks the run complete. What the disk refuses is in `lost`.
void close_run(LiveRun&, bool is_clean);

}  // namespace rankfault
