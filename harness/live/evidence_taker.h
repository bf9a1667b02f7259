// EvidenceTaker: takes the evidence of a job's ranks while the job hangs, and keeps it in the run directory.
#pragma once

#include <atomic>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "harness/diagnose/finding.h"
#include "harness/evidence/gather.h"
#include "harness/journal/journal.h"
#include "harness/observe/timeline.h"
#include "harness/run_dir/run_dir.h"

namespace rankfault {

class EvidenceTaker {
 public:
  // `interrupted`: not zero after the user asked to stop; null: never.
  EvidenceTaker(const RunDir& run, int guardian_pid, Journal& journal, const std::atomic<int>* interrupted)
      : run_(run), guardian_pid_(guardian_pid), journal_(journal), interrupted_(interrupted) {}

  // Whether there is something to see: either no evidence was taken in this attempt, or one of the findings
  // says that the job hangs and no evidence was taken for that trouble yet. At most a few times a run.
  bool wants(const Timeline&, const std::vector<Finding>& news) const;
  // Takes evidence of every living rank of the newest attempt that descends from the run's guardian. `news`:
  // the findings it is taken for. Blocks for at most about half a second a rank, longer with Python. The
  // first evidence of rank N goes to evidence/rank-N.json, the k-th to evidence/rank-N.k.json.
  const std::vector<RankEvidence>& take(const Timeline&, const std::vector<Finding>& news);
  const RunDir& run() const { return run_; }

 private:
  // Two findings are the same trouble when these are equal.
  using Trouble = std::tuple<int, std::string, std::vector<int>, uint64_t>;
  static Trouble trouble_of(const Finding&);
  void take_one(const ProcessView&);

  const RunDir& run_;
  int guardian_pid_;
  Journal& journal_;
  const std::atomic<int>* interrupted_;
  Places places_;
  int attempt_ = -1;             // the attempt of the newest evidence
  int times_ = 0;                // number of times in this run
  std::set<Trouble> taken_for_;  // the troubles of findings that say that the job hangs
  std::vector<RankEvidence> taken_;
};

}  // namespace rankfault
