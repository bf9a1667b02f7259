// CheckpointCopies: the same checkpoint in several places, at best on several disks. The loader takes the
// newest complete one of all places. A place that fails costs nothing while another one works.
#pragma once

#include "workloads/trainer/checkpoint.h"

namespace trainer {

struct WrittenCopies {
  int whole = 0;
  std::vector<std::string> failed;  // one line per place that could not be written
};

WrittenCopies write_copies(const std::vector<CheckpointPolicy>& places, const Checkpoint& checkpoint);

// Sets `unusable` only if no place can be read. With one place only, the lines in `rejected` do not name the
// directory.
LoadedCheckpoint load_newest_copy(const std::vector<CheckpointPolicy>& places);

}  // namespace trainer
