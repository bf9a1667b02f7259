// Checkpoint: weights in a file that is either complete or absent, and a loader that verifies this.
//
// Writing: a temporary file in the same directory, the bytes, fsync, rename, fsync of the directory.
// Loading: the newest file with this trainer's magic and fingerprint, its full length and the right checksum.
// A file is named ckpt-NNNNNNNN.bin, where NNNNNNNN is the last step in it. The newest two complete files are
// kept. A file that the loader rejects is never replaced or removed: it may belong to another program, or be
// all that is left of a training.
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
  uint64_t fingerprint = 0;  // of model and data; the loader rejects a file with another one
  bool fsync = true;
  bool rename = true;
  bool checksum = true;
  bool fallback = true;  // off: a damaged newest file ends the search
  bool write_on = true;  // off: a short write counts as complete
};

// The start of a file, before the weights. A change of its layout needs another magic.
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

// Returns the checkpoint in one file, or the reason why it is rejected.
std::variant<Checkpoint, std::string> read_checkpoint(const std::string& path,
                                                      const CheckpointPolicy& policy);
// Returns the names in the directory that are names of checkpoints, sorted, or the reason why it cannot be
// read.
std::variant<std::vector<std::string>, std::string> checkpoint_names(const std::string& directory);

// Returns nothing if the checkpoint is written safely, and otherwise the reason. Keeps the newest two
// complete checkpoints and removes older complete ones. It reads each file to its end to find out whether it
// is complete: a damaged file does not count.
std::optional<std::string> write_checkpoint(const CheckpointPolicy& policy, const Checkpoint& checkpoint);

struct LoadedCheckpoint {
  std::optional<Checkpoint> newest;   // none: start from the beginning
  std::vector<std::string> rejected;  // one line per file: its name and the reason
  std::string unusable;               // not "": the directory exists but cannot be read; start nothing
};

LoadedCheckpoint load_newest_checkpoint(const CheckpointPolicy& policy);

// Removes temporary files that a killed writer left. Only one job may use the directory.
void remove_unfinished_checkpoints(const CheckpointPolicy& policy);

}  // namespace trainer
