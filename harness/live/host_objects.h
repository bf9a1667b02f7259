// HostObjects: what a job can leave on its host beside processes and the files that its guardian sees: System
// V objects, POSIX message queues, and files in a TMPDIR that the workload was given by its own user.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "harness/base/json.h"
#include "harness/inject/undo_list.h"
#include "harness/launch/sysv_objects.h"
#include "harness/run/journal.h"
#include "harness/run/run_dir.h"

namespace rankfault {

class HostObjects {
 public:
  // Remembers what is there now, before the job is. A watched job's TMPDIR is its user's affair.
  explicit HostObjects(const RunDir&);

  // A process of the job, while it lives: its TMPDIR is read from it once.
  void add_process(int pid);

  // While the job runs: segments of its processes go to the undo list, so that they are removed also when
  // this program is killed. Each once.
  void list_segments(UndoList&);

  // Journals a `leftover` line for each that the job left, and an `unclear_leftover` line for each of which
  // nobody knows whether it did; adds to `counts` how many there are of each kind that could be looked at.
  // `undo`: what is to be removed or told of goes there; null: nothing is.
  void census(Journal&, UndoList* undo, Json& counts);

 private:
  void list_segment(const SysvObject&, UndoList&);
  void census_sysv(Journal&, UndoList*, Json& counts);
  void census_queues(Journal&, UndoList*, Json& counts) const;
  void census_tmpdirs(Journal&, Json& counts) const;

  std::string run_path_, run_tmp_;
  bool watch_;
  unsigned user_;
  int64_t began_ns_;  // CLOCK_REALTIME
  SysvObjects sysv_;
  std::optional<std::set<std::string>> queues_;
  std::set<int> pids_, listed_;
  std::set<std::string> tmpdirs_;
};

}  // namespace rankfault
