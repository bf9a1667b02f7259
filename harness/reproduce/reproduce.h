// reproduce: evidence of a hang -> case -> a small scenario that hangs in the same way.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/reproduce/evidence_files.h"
#include "harness/reproduce/fold.h"
#include "harness/reproduce/logs/clue.h"
#include "harness/reproduce/scenario_text.h"

namespace rankfault {

struct ReproduceOptions {
  int ranks = kFoldedRanks;        // at most so many in the small job
  size_t calls = 48;               // of each rank, before the divergence
  int64_t count = 1 << 16;         // the largest count of elements in the small job; 0: real sizes
  int absent = -1;                 // of logs: the rank that did not come, by the user's word
  std::optional<ReplayOver> over;  // none: by the evidence
  std::string name = "reproduced";
  std::function<void(uint64_t bytes_done, uint64_t bytes_total)> log_progress;  // may be empty
};

struct Understood {  // what the evidence says, before a small job is made of it
  Case whole;        // all ranks; of each only the open calls
  Case small;        // folded, with the calls of its ranks
  std::string digest;
  std::vector<Clue> clues;  // of logs: the messages that were understood
};

// Errors: a path that cannot be read. Where the evidence shows no hang, or not whose, the states do not hang.
Result<Understood> understand(const EvidenceFiles&, const ReproduceOptions&);

// Errors: why no small job can have the state.
Result<Written> write_scenario(const Case& small, const std::string& digest, const ReproduceOptions&);

}  // namespace rankfault
