// StepOptions: the part of the command line about limits, chunks, meetings, evaluation and shares.
#pragma once

#include <chrono>
#include <string>

#include "workloads/trainer/chunked_sum.h"
#include "workloads/trainer/limit_keeper.h"

namespace trainer {

// How the ranks meet: by a barrier that may say no; the same believed alone; by the library's, which fails.
enum class MeetBy { kSafe, kAlone, kPlain };

struct StepOptions {
  LimitPolicy limits;  // beside --collective-timeout, which is the limit of training
  bool phase_limits = true, size_limits = true;
  LimitsBy limits_by = LimitsBy::kLibrary;
  size_t chunk_unit = kChunkUnit;
  Limit heartbeat;  // none: nobody looks

  int64_t meet_every = 0;
  MeetBy meet_by = MeetBy::kSafe;
  std::chrono::milliseconds meet_limit = std::chrono::seconds(1);

  std::string evaluation_dir;  // predictions are written there, and all ranks evaluate; "": rank 0 does alone
  bool evaluation_fallback = true, evaluation_agreement = true;
  size_t evaluation_gather = 0,
         evaluation_sum = 0;  // numbers of a rank that evaluation gathers, and sums, besides

  bool deal_by_speed = false;
  int64_t deal_every = 10;
  bool mark_samples = false;  // a place for faults before each sample

  // Of a real model: memory that a sample takes while its piece of the batch is computed, and a rank that
  // computes for so long in each step, in its own CPU time.
  size_t sample_memory = 0;
  std::chrono::milliseconds compute_time{0};
  int compute_rank = -1;
};

enum class StepOption { kRead, kBad, kNotOne };
StepOption read_step_option(const std::string& argument, StepOptions* options);

extern const char* const kStepUsage;

// The policy that the switches leave.
LimitPolicy limits_of(const StepOptions& options, Limit collective_timeout);

}  // namespace trainer
