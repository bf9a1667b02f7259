// SyntheticRecords: the run directory of a ParallelJob of blocking MPI calls: a flight record for each rank,
// in the layout that the agent writes, and a journal with the ends and one look.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/parallel_job.h"

namespace rankfault::testing {

// What happens to a culprit after its last call.
enum class Fate { kRuns, kSleeps, kStopped, kKilled, kExits, kFinalizes };

struct Trouble {
  const char* word;     // "dead_rank"
  const char* finding;  // the kind that reports it
  SyntheticJob::Broken broken;
  Fate fate;
  bool blames = true;  // false: the finding must not name a rank
};
const std::vector<Trouble>& all_troubles();
std::optional<Trouble> trouble_named(const std::string& word);

// Sets job.broken, and writes RUN_DIR/records/*.ring and RUN_DIR/journal.ndjson. The folder must be new.
void write_synthetic_records(const std::string& run_dir, SyntheticJob job, const Trouble&);

}  // namespace rankfault::testing
