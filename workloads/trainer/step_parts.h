// StepParts: what the training loop uses besides its sums: heartbeat, meetings, shares of the batch.
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

  // All ranks meet, at the steps that the options select. If some do not come, the rank reports it and
  // continues.
  void meet_now_and_then(int64_t step, SequenceCheck& check);

  // Before the first step and then every few steps: shares the batch by the time that `one_sample` takes on
  // each rank.
  void deal_now_and_then(int64_t step, const std::function<void()>& one_sample);
  Share share() const { return share_; }

  // Imitate a real model: CPU time, and memory for this number of samples at once. take_memory() throws
  // std::bad_alloc if there is too little.
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

// "" if these options go together; otherwise what is wrong.
std::string step_misfit(const Options& options);

}  // namespace trainer
