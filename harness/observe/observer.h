// Observer: reads the flight records of a run's processes, live or afterwards, and makes Timelines.
// It opens `*.ring` only: there is no code here that could open what was done to a rank.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/launch/rank_end.h"
#include "harness/observe/timeline.h"

namespace rankfault {

class Observer {
 public:
  virtual ~Observer() = default;

  // Finds flight records that appeared since; returns the processes that are new or whose claimed
  // rank, stage or attempt changed.
  virtual std::vector<ProcessId> scan() = 0;
  // Copies history records that are new since the last call, so that a ring that wraps later loses
  // nothing that was there now. Cheap when nothing happened.
  virtual void drain() = 0;
  virtual void set_end(const RankEnd&) = 0;
  virtual void set_expected(std::vector<ExpectedRank>, int world_size, int attempt) = 0;
  // A digest of all state words: equal while nothing moved. Cheap: no history, no /proc.
  virtual uint64_t activity() = 0;
  // What is claimed now by a process found by scan(); null when unknown. No history in it.
  virtual const ProcessView* process(const ProcessId&) = 0;
  // One look: reads every state twice; `consistent` says whether both agreed.
  virtual Timeline look(bool with_proc) = 0;
};

// `record_folders`: one per host; not recursive.
std::unique_ptr<Observer> make_observer(std::vector<std::string> record_folders, TimeNs run_begin);

// Where the histories of a Timeline are: in it, or, of jobs too large for that, in their files.
enum class Histories { kInMemory, kInFiles };

// The flight records of a finished (or copied) run, for all its looks. Those of the first ranks are opened
// once; of a large job the others are opened when they are read, and forgotten again.
class RunRecords {
 public:
  explicit RunRecords(const std::string& run_dir);
  ~RunRecords();
  // See timeline_from_run. A process whose record is gone, or cannot be read, has what the look says of it,
  // and nothing is proven by it.
  Result<Timeline> at_look(const Json& look_line);
  const std::vector<std::string>& unread() const;  // why, one for each of them

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The same from a finished (or copied) run: states from the journal's look line, histories from the
// rings, cut at the look.
Result<Timeline> timeline_from_run(const std::string& run_dir, const Json& look_line);
// Everything the rings hold at the end, with the ends in the journal: for oracles.
Result<Timeline> final_timeline(const std::string& run_dir, Histories = Histories::kInMemory);

}  // namespace rankfault
