// EvidenceTaker: takes the evidence of a job's ranks while it hangs, and keeps it in the run directory.
#pragma once

#include <atomic>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "harness/diagnose/finding.h"
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

  // Whether there is something to see: in this attempt none was taken yet, or one of the findings says that
  // the job hangs, and evidence was not taken for that trouble before. A few times a run at most.
  bool wants(const Timeline&, const std::vector<Finding>& news) const;
  // Of every living rank of the newest attempt; `news`: what it is taken for. Only processes that descend
  // from the run's guardian. Blocks for about half a second a rank at most, longer with Python. The first
  // goes to evidence/rank-N.json, the k-th to evidence/rank-N.k.json.
  const std::vector<RankEvidence>& take(const Timeline&, const std::vector<Finding>& news);

 private:
  // What makes a trouble another one.
  using Trouble = std::tuple<int, std::string, std::vector<int>, uint64_t>;
  static Trouble trouble_of(const Finding&);
  void take_one(const ProcessView&);

  const RunDir& run_;
  int guardian_pid_;
  Journal& journal_;
  const std::atomic<int>* interrupted_;
  Places places_;
  int attempt_ = -1;             // of what was taken
  int times_ = 0;                // in this run
  std::set<Trouble> taken_for_;  // that say that the job hangs
  std::vector<RankEvidence> taken_;
};

}  // namespace rankfault
