// HostObjects: what a job can leave on its host besides processes and the files that its guardian sees:
// System V objects, POSIX message queues, and files in a TMPDIR that the user gave the workload.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "harness/base/json.h"
#include "harness/inject/undo_list.h"
#include "harness/journal/journal.h"
#include "harness/launch/sysv_objects.h"
#include "harness/run_dir/run_dir.h"

namespace rankfault {

using FileNumber = std::pair<uint64_t, uint64_t>;  // device, inode

class HostObjects {
 public:
  // Remembers what exists now, before the job starts. The TMPDIR of a watched job belongs to its user and is
  // left alone.
  explicit HostObjects(const RunDir&);

  // A process of the job, in our own pid namespace; `start`: field 22 of /proc/PID/stat. While the process
  // lives, its TMPDIR is read once.
  void add_process(int pid, uint64_t start);
  void process_ended(int pid, uint64_t start);
  void look_at_most(int files) { most_files_ = files; }  // of one TMPDIR; for a test

  // While the job runs: puts the segments of its processes on the undo list, each once, so that they are
  // removed even if this program is killed.
  void list_segments(UndoList&);

  // Journals a `leftover` line for each object that the job left, and an `unclear_leftover` line for each
  // object that appeared meanwhile and whose maker is unknown. Adds the number of each kind to `counts`, and
  // removes from it the kinds that could not be looked at completely. `undo` gets what is to be removed or
  // reported; null: nothing is. `listed`: the files that the guardian's list names; the caller journals
  // those.
  void census(Journal&, UndoList* undo, events::Census& counts, const std::set<FileNumber>& listed);

 private:
  void list_segment(const SysvObject&, UndoList&);
  void census_sysv(Journal&, UndoList*, events::Census& counts);
  void census_queues(Journal&, UndoList*, events::Census& counts) const;
  void census_tmpdirs(Journal&, events::Census& counts, const std::set<FileNumber>& listed) const;

  std::string run_path_, run_tmp_;
  bool watch_;
  int most_files_ = 100'000;
  unsigned user_;
  std::chrono::system_clock::time_point began_;
  SysvObjects sysv_;
  std::optional<std::set<std::string>> queues_;
  JobPids pids_;
  std::set<int> listed_;
  std::set<std::string> tmpdirs_;
  std::set<std::string> words_;  // of the commands of processes that have a TMPDIR of their own
};

}  // namespace rankfault
