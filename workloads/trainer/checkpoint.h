// Checkpoint: weights on disk that are whole or not there, and a loader that can tell.
//
// Writing: a temporary file beside the place, the bytes, fsync, rename, fsync of the directory.
// Loading: the newest file that has our magic, our shape, its full length and the right checksum.
// Files are ckpt-NNNNNNNN.bin, NNNNNNNN the last step they hold; the newest two whole ones are kept. What the
// loader rejects is never replaced or removed: it may be somebody else's, or all that is left of a training.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
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
  bool fallback = true;  // off: a damaged newest file ends the search
  bool write_on = true;  // off: a write that took fewer bytes is believed to have taken all
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
std::string checkpoint_name(int64_t step, int copy = 0);

// One file, or in a few words what is wrong with it.
std::variant<Checkpoint, std::string> read_checkpoint(const std::string& path,
                                                      const CheckpointPolicy& policy);
// Those in the directory that have a checkpoint's name, in order; of one that cannot be read the reason.
std::variant<std::vector<std::string>, std::string> checkpoint_names(const std::string& directory);

// None when it is safely written, else the reason. Removes older checkpoints than the newest two whole ones,
// which it reads to their end to know: a damaged one is no reason to give up the one before.
std::optional<std::string> write_checkpoint(const CheckpointPolicy& policy, const Checkpoint& checkpoint);

struct LoadedCheckpoint {
  std::optional<Checkpoint> newest;   // none: start from the beginning
  std::vector<std::string> rejected;  // one line a file: its name and what is wrong with it
  std::string unusable;               // not "": the directory is there and cannot be read; start nothing
};

LoadedCheckpoint load_newest_checkpoint(const CheckpointPolicy& policy);

// Temporary files that a killed writer left. Only one job may use the directory.
void remove_unfinished_checkpoints(const CheckpointPolicy& policy);

}  // namespace trainer
