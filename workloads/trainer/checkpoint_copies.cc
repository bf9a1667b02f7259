// CheckpointCopies: writes and reads each place independently of the others.
#include "workloads/trainer/checkpoint_copies.h"

namespace trainer {

WrittenCopies write_copies(const std::vector<CheckpointPolicy>& places, const Checkpoint& checkpoint) {
  WrittenCopies result;
  for (const CheckpointPolicy& place : places) {
    if (auto failure = write_checkpoint(place, checkpoint))
      result.failed.push_back(*failure);
    else
      ++result.whole;
  }
  return result;
}

LoadedCheckpoint load_newest_copy(const std::vector<CheckpointPolicy>& places) {
  LoadedCheckpoint best;
  size_t unusable = 0;
  for (const CheckpointPolicy& place : places) {
    LoadedCheckpoint one = load_newest_checkpoint(place);
    const std::string where = places.size() > 1 ? place.directory + "/" : "";
    for (const std::string& line : one.rejected) best.rejected.push_back(where + line);
    if (!one.unusable.empty()) {
      ++unusable;
      best.unusable = one.unusable;
    }
    if (one.newest && (!best.newest || one.newest->step > best.newest->step)) best.newest = one.newest;
  }
  // If one place cannot be read, the other places still have a newest checkpoint. A rejected line names the
  // place.
  if (unusable > 0 && unusable < places.size()) {
    best.rejected.push_back(best.unusable);
    best.unusable.clear();
  }
  return best;
}

}  // namespace trainer
