// RunFacts: all that a judgement may read: the plan, the journal, the final timeline, the findings and, when
// there is one, the reference run. Made only from files of run directories, so judging a copy gives the same
// bytes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/rank_end.h"
#include "harness/diagnose/finding.h"
#include "harness/evidence/evidence.h"
#include "harness/journal/journal_line.h"
#include "harness/observe/timeline.h"
#include "harness/plan/plan.h"

namespace rankfault {

struct GateEvent {  // one firing of an action, from the journal
  uint32_t action = 0;
  std::string fault;
  int rank = -1;
  int attempt = 0;
  ProcessId process;
  Instant asked, answered, done;
  std::string answer, effect;
  std::string op;
  uint64_t comm_id = 0, seq = 0, count = 0;
  int64_t step = -1;
  std::string path;
  std::optional<std::string>
      group;        // of an upper call, which has no record: the beginning of its group's name
  std::string why;  // of effect "unable": the agent's reason
  Duration parked{};
  std::vector<uint64_t> lines;  // journal lines
};

struct Mark {        // begun and committed steps, values, errors, phases: from the flight records
  std::string what;  // "step_begin", "step_commit", "value", "error_mark", "phase", "mark", "batch"
  int rank = -1;
  int attempt = 0;
  Instant time;
  int64_t number = 0;  // the step or number
  std::string name;
  uint64_t value = 0;
};

struct NoRank {  // a launcher program that ended before any rank of its attempt was recorded
  int attempt = 0;
  std::string launcher, status;   // "torchrun", "exit 2"; "" when its status is not known
  std::string log;                // its name in the run directory
  std::vector<std::string> last;  // the end of the log
};

// Whether it failed by itself: rankfault did not end it, and its status is not 0.
bool failed(const NoRank&);
std::string no_rank_line(const NoRank&);  // "torchrun ended with exit 2 and no rank of it was recorded"

struct RunFacts {
  std::string run_dir;
  Plan plan;
  JournalLines journal;
  Timeline timeline;  // the whole run, at its end
  Findings findings;  // as journaled
  std::vector<RankEnd> ends;
  std::vector<GateEvent> gates;
  std::vector<Mark> marks;
  std::map<std::string, Instant> fault_at;  // fault id -> when its (first) effect was verified; absent: it
                                            // was not
  Instant begin, end;
  Instant teardown;             // when we began to end what was left; not known: the job ended by itself
  std::string teardown_reason;  // "wall", "decided", "interrupted"
  bool ended = false;           // the journal has its last line
  uint64_t lost_lines = 0;      // number of journal lines whose numbers are missing
  bool starved = false;         // the host served our own timers late
  std::string starved_why;
  std::string cuda_double;               // NCCL's version over the double of CUDA; "": not over it
  std::string not_computed;              // kernels that were launched over it and computed nothing; "" none
  std::vector<NoRank> no_rank;           // by attempt
  std::vector<std::string> logs;         // names of the files in logs/ that are not empty, sorted
  std::vector<std::string> left_behind;  // files of the job that clean-up did not remove
  std::vector<RankEvidence> evidence;    // taken while the job hung, by rank; no oracle reads it
  std::unique_ptr<RunFacts> reference;
};

Result<RunFacts> read_run(const std::string& run_dir);

}  // namespace rankfault
