// EvidenceTaker: takes the evidence of a job's ranks while it hangs, and keeps it in the run directory.
#pragma once

#include <atomic>
#include <vector>

#include "harness/evidence/gather.h"
#include "harness/observe/timeline.h"
#include "harness/run/journal.h"
#include "harness/run/run_dir.h"

namespace rankfault {

class EvidenceTaker {
 public:
  // `interrupted`: not zero once the user asked to stop; null: never.
  EvidenceTaker(const RunDir& run, int guardian_pid, Journal& journal, const std::atomic<int>* interrupted)
      : run_(run), guardian_pid_(guardian_pid), journal_(journal), interrupted_(interrupted) {}

  // Of every living rank of the newest attempt, once an attempt: what hangs does not change. Only processes
  // that descend from the run's guardian. Blocks for about half a second a rank at most, longer with Python.
  const std::vector<RankEvidence>& take(const Timeline&);
  bool is_new(const Timeline& timeline) const { return attempt_ != timeline.attempt; }  // nothing taken of it

 private:
  void take_one(const ProcessView&);

  const RunDir& run_;
  int guardian_pid_;
  Journal& journal_;
  const std::atomic<int>* interrupted_;
  Places places_;
  int attempt_ = -1;  // of what was taken
  std::vector<RankEvidence> taken_;
};

}  // namespace rankfault
