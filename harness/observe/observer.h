// Observer: reads the flight records of a run's processes, live or afterwards, and makes Timelines.
// It opens only `*.ring` files: no code here can read which fault was injected into a rank.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/base/rank_end.h"
#include "harness/observe/lane_window.h"
#include "harness/observe/remote_processes.h"
#include "harness/observe/timeline.h"

namespace rankfault {

namespace events {
struct Look;  // harness/journal/finding_events.h
}

class Observer {
 public:
  virtual ~Observer() = default;

  // Finds flight records that appeared since the last call. Returns the processes that are new or whose
  // claimed rank, stage or attempt changed.
  virtual std::vector<ProcessId> scan() = 0;
  // Programs that a rank executed and that scan() found to be over: their records are removed, and no look
  // shows them any more. Returns each once.
  virtual std::vector<ProcessId> take_forgotten() { return {}; }
  virtual bool is_bystander(const ProcessId&) const { return false; }  // see bystanders.h
  // Copies the history records that are new since the last call, so that a ring that wraps later loses none
  // of them. Cheap when nothing happened.
  virtual void drain() = 0;
  virtual void set_end(const RankEnd&) = 0;
  virtual void set_expected(std::vector<ExpectedRank>, int world_size, int attempt) = 0;
  virtual void set_launcher_ends_all(bool) {}
  virtual void set_job_status(JobStatus) {}
  // A digest of all state words: equal while nothing moved. Cheap: it reads no history and no /proc.
  virtual uint64_t activity() = 0;
  // The claim of a process that scan() found, as of its last change, without history; null when unknown.
  virtual const ProcessView* process(const ProcessId&) = 0;
  virtual std::string python_of(const ProcessId&) const { return ""; }  // see RingReader::python()
  // One look: reads every state twice; `consistent` says whether both readings agreed. Its histories hold the
  // newest `calls` of each lane, and more if they are at hand. The cost of a look grows with them.
  virtual Timeline look(bool with_proc, uint64_t calls = UINT64_MAX) = 0;
  // Saves the histories of a look beside the rings, so that a replay has what the look had.
  virtual void save(const Timeline&) {}
  // A fault fires: this drain and the next ones save what each lane does around now.
  virtual void save_around_now() {}
  // Records that a window let go, that were overwritten before they were read, or that were removed from
  // files.
  struct Losses {
    uint64_t let_go = 0, overwritten = 0, removed = 0;
  };
  virtual Losses losses() const { return {}; }
  // Processes of other hosts, whose records are in the folders, too; null: there are none.
  virtual void set_remote(RemoteProcesses*) {}
};

// `record_folders`: one per host; not recursive. `window`: see lane_window.h.
std::unique_ptr<Observer> make_observer(std::vector<std::string> record_folders, Instant run_begin,
                                        uint64_t window = window_calls());

// Where the histories of a Timeline are: in the Timeline, or, for jobs too large for that, in their files.
enum class Histories { kInMemory, kInFiles };

// The flight records of a finished (or copied) run, for all its looks. The records of the first ranks are
// opened once. Those of the other ranks of a large job are opened when they are read, and closed again.
class RunRecords {
 public:
  explicit RunRecords(const std::string& run_dir);
  ~RunRecords();
  // See timeline_from_run. If the record of a process is gone or cannot be read, the Timeline has what the
  // look says of the process, and nothing is proven from it.
  Result<Timeline> at_look(const events::Look&);
  const std::vector<std::string>& unread() const;  // the reason for each unreadable record

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The Timeline of a look of a finished (or copied) run: states from the journal's look line, histories from
// the rings, cut at the look.
Result<Timeline> timeline_from_run(const std::string& run_dir, const events::Look&);
// Everything that the rings hold at the end, with the ends in the journal: for oracles.
Result<Timeline> final_timeline(const std::string& run_dir, Histories = Histories::kInMemory);

}  // namespace rankfault
