// StepParts: what the training loop uses beside its sums: heartbeat, meetings, shares of the batch.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "workloads/trainer/heartbeat.h"
#include "workloads/trainer/options.h"
#include "workloads/trainer/safe_barrier.h"
#include "workloads/trainer/shares.h"

namespace trainer {

class Collectives;
class SequenceCheck;

class StepParts {
 public:
  StepParts(const Options& options, Collectives& collectives);

  void beat(int64_t step) {
    if (heartbeat_) heartbeat_->beat(step);
  }

  // All ranks meet, where the options say so; that some did not come is said, and no reason to stop.
  void meet_now_and_then(int64_t step, SequenceCheck& check);

  // Before the first step and every few: deals the batch by the time that `one_sample` takes on each rank.
  void deal_now_and_then(int64_t step, const std::function<void()>& one_sample);
  Share share() const { return share_; }

  // What a real model would take besides: CPU time, and memory for so many samples at once, std::bad_alloc
  // where there is none.
  void compute() const;
  void take_memory(size_t samples) { memory_ = std::vector<char>(samples * options_.step.sample_memory); }
  void give_memory_back() { memory_ = {}; }

 private:
  bool meet();
  bool wait_at_barrier();

  const Options& options_;
  Collectives& collectives_;
  std::optional<Heartbeat> heartbeat_;
  std::optional<SafeBarrier> barrier_;
  Share share_;
  std::vector<char> memory_;
  bool dealt_ = false;
};

// "" when these options go together, else what is wrong.
std::string step_misfit(const Options& options);

}  // namespace trainer
