// LiveRun: everything that a run owns while it lives, from its directory to its guardian.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/base/log.h"
#include "harness/inject/control_page.h"
#include "harness/inject/undo_list.h"
#include "harness/journal/journal.h"
#include "harness/launch/guardian.h"
#include "harness/live/host_objects.h"
#include "harness/observe/observer.h"
#include "harness/plan/plan.h"
#include "harness/run_dir/run_dir.h"

namespace rankfault {

struct LiveRun {  // in the order of creation; destroyed in reverse order
  RunDir dir;
  RunLog log;
  Journal journal;
  ControlPage page;
  UndoList undo;
  Guardian guardian;
  std::unique_ptr<Observer> observer;
  bool launched = false;          // the start of a part of the job was requested
  bool over = false;              // everything that was started has ended by itself
  int attempt = 0;                // the attempt that runs, or the last one that ran
  std::vector<std::string> lost;  // what the disk refused, in words
  HostObjects host;
};

// The file systems that the plan's faults need; `tmp` is the job's TMPDIR.
std::vector<SmallFolder> small_folders(const Plan&, const std::string& tmp);

// Makes all parts, or none: after an error neither a run directory nor a TMPDIR is left, or the error says
// so. `run_dir` and the kind: as in RunDir::create. `recorded`: the ranks will write flight records.
Result<LiveRun> open_run(const Plan&, const std::string& run_dir, RunKind, bool recorded);

// Called after the last line of the journal. Gives back the reserved disk room that was not used, and marks
// the run complete when nothing is left to clean. `lost` gets what the disk refuses.
void close_run(LiveRun&, bool is_clean);

}  // namespace rankfault
