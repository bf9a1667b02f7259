// Checkpoint: weights on disk that are whole or not there, and a loader that can tell.
//
// Writing: a temporary file beside the place, the bytes, fsync, rename, fsync of the directory.
// Loading: the newest file that has our magic, our shape, its full length and the right checksum.
// Files are ckpt-NNNNNNNN.bin, NNNNNNNN the last step they hold; the newest two are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainer {

struct Checkpoint {
  int64_t step = 0;
  std::vector<double> weights;
};

struct CheckpointPolicy {
  std::string directory;
  uint64_t fingerprint = 0;  // of model and data; a file of another training is not ours
  bool fsync = true;
  bool rename = true;
  bool checksum = true;
};

// What stands at the start of a file, before the weights. Fixed: a change needs another magic.
struct CheckpointHeader {
  char magic[8];
  uint64_t fingerprint;
  int64_t step;
  uint64_t count;     // of weights
  uint64_t checksum;  // over the fields above and the weights
};
inline constexpr char kCheckpointMagic[8] = {'R', 'F', 'C', 'K', 'P', 'T', '0', '1'};

uint64_t checkpoint_checksum(const CheckpointHeader& header, const double* weights);
std::string checkpoint_name(int64_t step);

// None when it is safely written, else the reason. Removes older checkpoints than the newest two.
std::optional<std::string> write_checkpoint(const CheckpointPolicy& policy, const Checkpoint& checkpoint);

struct LoadedCheckpoint {
  std::optional<Checkpoint> newest;   // none: start from the beginning
  std::vector<std::string> rejected;  // one line a file: its name and what is wrong with it
};

LoadedCheckpoint load_newest_checkpoint(const CheckpointPolicy& policy);

// Temporary files that a killed writer left. Only one job may use the directory.
void remove_unfinished_checkpoints(const CheckpointPolicy& policy);

}  // namespace trainer
