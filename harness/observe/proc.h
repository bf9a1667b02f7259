// proc: what /proc says about a process of the job at a look: evidence for people, never for a proof.
#pragma once

#include "harness/observe/timeline.h"

namespace rankfault {

// Fills `stopped`, `dying`, `threads` and each thread lane's thread_state if the process is still the
// recorded one. Keeps only the `own_threads` that live.
void read_proc_states(ProcessView&);

// When a process was stopped, over the looks of a run.
class StopWatch {
 public:
  // Reads `stopped` and fills `stops`.
  void read(ProcessView&, Instant now);

 private:
  std::vector<Stop> stops_;
  bool was_stopped_ = false;
};

// How busy a process is, over the looks of a run.
class CpuWatch {
 public:
  // Fills `busy_at`. It is measured at most twice a second, so it may be older than the look.
  void read(ProcessView&, Instant now);

 private:
  Instant measured_, busy_;
  Duration used_{};
};

}  // namespace rankfault
