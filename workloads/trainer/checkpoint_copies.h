// CheckpointCopies: the same checkpoint in several places, best on several disks: the newest whole one of any
// of them is taken, and a place that fails costs nothing as long as another holds.
#pragma once

#include "workloads/trainer/checkpoint.h"

namespace trainer {

struct WrittenCopies {
  int whole = 0;
  std::vector<std::string> failed;  // one line a place that could not be written
};

WrittenCopies write_copies(const std::vector<CheckpointPolicy>& places, const Checkpoint& checkpoint);

// `unusable` only when no place can be read; with one place rejected lines carry no directory.
LoadedCheckpoint load_newest_copy(const std::vector<CheckpointPolicy>& places);

}  // namespace trainer
