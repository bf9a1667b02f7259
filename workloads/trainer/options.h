// Options: the trainer's command line. Every defence has a switch that turns off only this defence.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/trainer/end_of_data.h"
#include "workloads/trainer/step_options.h"

namespace trainer {

// When the error flag is reduced: by every rank in every step, only by ranks that have something to report,
// or never.
enum class ErrorFlag { kAlways, kWhenFailed, kNever };

// One rank at one step; rank -1: no rank.
struct At {
  int64_t step = 0;
  int rank = -1;
  bool is(int64_t s, int r) const { return step == s && rank == r; }
};

// How a generation after the first gets its communicator: a new one, or the broken one without the lost
// ranks.
enum class RecoverBy { kMeeting, kShrink, kRevoke };

struct Options {
  int rank = 0;  // from RANK and WORLD_SIZE
  int world_size = 1;
  std::string store;  // directory of the rendezvous; a new attempt needs a new one

  int64_t steps = 60;
  int64_t batch = 32;  // samples of a step over all ranks, for any world size
  int hidden = 32;
  int buckets = 3;
  uint64_t seed = 1;
  int64_t samples = 0;  // of the data set; 0: it never ends
  EndOfData end_of_data = EndOfData::kFlag;
  std::array<int, 3> grid{};  // tensor x pipeline x data; the product is the world size; 0: one flat sum
  int node_size = 0;          // ranks of a node, for the hierarchical sum; 0: one flat sum
  int64_t evaluate_every = 0;
  int64_t progress_check_every = 0;
  bool float_sums = false;  // ordinary float sums: faster, but with other bits for another world size

  std::string checkpoint_dir;     // "": no checkpoints
  std::string checkpoint_copies;  // another directory that holds each of them; "": none
  int64_t checkpoint_every = 10;
  std::optional<std::chrono::milliseconds> collective_timeout = std::chrono::seconds(30);

  std::optional<std::chrono::milliseconds> join_timeout;  // for all ranks to come and connect; none: the
                                                          // library's own limit, and then meet_again

  StepOptions step;  // limits, chunks, meetings, evaluation, shares

  bool sequence_check = true;
  ErrorFlag error_flag = ErrorFlag::kAlways;
  bool stop_on_error = true;  // off: the rank reports the error of a collective and continues
  bool fsync = true;
  bool rename = true;    // off: checkpoints are written in place
  bool checksum = true;  // off: the loader does not verify checksums
  bool write_on = true;  // off: a short write counts as complete
  bool fallback = true;  // off: a damaged newest checkpoint ends the search
  bool resume = true;    // off: a restart begins at step 1

  bool stop_on_sigterm = false;  // SIGTERM: checkpoint, then all leave together; off: it ends the process
  bool sigterm_once = false;     // the second SIGTERM ends the process
  bool preflight = false;
  int recoveries = 0;  // how often the ranks may meet again after a failed collective, without a new process
  std::chrono::milliseconds meet_again = std::chrono::seconds(10);  // how long the ranks wait for a late one
  RecoverBy recover_by = RecoverBy::kMeeting;
  bool tell_failures = false;  // report failures in the store: NCCL does not report them to peers
  bool end_by_abort = false;   // end communicators of NCCL by an abort
  int64_t micro_batch = 0;     // samples at a time; 0: a rank's whole share at once
  bool halve_batches = true;

  // Failures that come from the data, and mistakes of programs.
  At bad_sample;                          // cannot be read
  bool swallow_local_errors = false;      // `except: continue`: the rank leaves out the step's calls
  bool broadcast_on_rank_0_only = false;  // in the evaluation
  bool leaders_call_world = false;        // in the hierarchical sum
  std::vector<int> axes_reversed_on;      // ranks that take the grid's axes in another order
  At jumped_step;                         // the rank leaves out this step
  At fits;                                // the rank has memory for only `step` samples at a time
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
