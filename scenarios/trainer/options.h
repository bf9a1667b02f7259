// Options: the trainer's command line; every defence has a switch that turns off only itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainer {

struct Options {
  int rank = 0;  // from RANK and WORLD_SIZE
  int world_size = 1;
  std::string store;  // directory of the rendezvous; a new attempt needs a new one

  int64_t steps = 60;
  int64_t batch = 32;  // global batch of a step, whatever the world size
  int hidden = 32;
  int buckets = 3;
  uint64_t seed = 1;
  bool float_sums = false;  // ordinary float sums: faster, and not equal over world sizes

  std::string checkpoint_dir;  // "": no checkpoints
  int64_t checkpoint_every = 10;
  std::optional<std::chrono::milliseconds> collective_timeout = std::chrono::seconds(30);

  bool sequence_check = true;
  bool error_flag = true;
  bool stop_on_error = true;  // off: the error of a collective is told, and the step goes on
  bool fsync = true;
  bool rename = true;    // off: checkpoints are written in place
  bool checksum = true;  // off: the loader believes what it reads
  bool resume = true;    // off: a restart begins at step 1
};

struct ParsedOptions {
  Options options;
  std::string error;  // not "": what is wrong, in one line
  bool help = false;
};

ParsedOptions parse_options(const std::vector<std::string>& arguments);

// "1s", "250ms", "2m"; none for anything else.
std::optional<std::chrono::milliseconds> parse_duration(const std::string& text);

extern const char* const kUsage;

}  // namespace trainer
