// StepOptions: the part of the command line about limits, chunks, meetings, evaluation and shares.
#pragma once

#include <chrono>
#include <string>

#include "workloads/trainer/chunked_sum.h"
#include "workloads/trainer/limit_keeper.h"

namespace trainer {

// How the ranks meet: by a SafeBarrier, by one without a common decision, or by the library's barrier, which
// fails if a rank is late.
enum class MeetBy { kSafe, kAlone, kPlain };

struct StepOptions {
  LimitPolicy limits;  // in addition to --collective-timeout, which is the limit of training
  bool phase_limits = true, size_limits = true;
  LimitsBy limits_by = LimitsBy::kLibrary;
  size_t chunk_unit = kChunkUnit;
  Limit heartbeat;  // none: no heartbeat

  int64_t meet_every = 0;
  MeetBy meet_by = MeetBy::kSafe;
  std::chrono::milliseconds meet_limit = std::chrono::seconds(1);

  std::string evaluation_dir;  // all ranks evaluate, and write predictions there; "": rank 0 evaluates alone
  bool evaluation_fallback = true, evaluation_agreement = true;
  size_t evaluation_gather = 0,
         evaluation_sum = 0;  // numbers of each rank that an evaluation gathers, and that it sums

  bool deal_by_speed = false;
  int64_t deal_every = 10;
  bool mark_samples = false;  // a mark before each sample, at which a fault can act

  // Imitate a real model: memory that a sample takes while its piece of the batch is computed, and CPU time
  // that one rank takes in each step.
  size_t sample_memory = 0;
  std::chrono::milliseconds compute_time{0};
  int compute_rank = -1;
};

enum class StepOption { kRead, kBad, kNotOne };
StepOption read_step_option(const std::string& argument, StepOptions* options);

extern const char* const kStepUsage;

// The policy that results from the switches.
LimitPolicy limits_of(const StepOptions& options, Limit collective_timeout);

}  // namespace trainer
