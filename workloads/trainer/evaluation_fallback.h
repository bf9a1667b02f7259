// evaluation_fallback: an evaluation that fails somewhere ends as an evaluation, never as the training.
//
// All ranks evaluate their shares of the same samples. Whether anybody failed is summed together with the
// losses, so every rank knows the same and takes the same branch: again with half the batch, at most three
// tries; then what was done counts if it is at least half of the samples; else there is no result this time.
#pragma once

#include <cstdint>
#include <functional>

namespace trainer {

class Collectives;

struct EvaluationPlan {
  int64_t samples = 64;
  int64_t batch = 64;  // of the first try, over all ranks
  int tries = 3;
  // Switches: each turns off one defence.
  bool fall_back = true;  // off: a failure goes up to whoever evaluates
  bool agree = true;      // off: each rank follows its own failure alone
};

struct EvaluationReport {
  enum class Outcome { kWhole, kPartial, kSkipped } outcome = Outcome::kSkipped;
  int tries = 0;
  int64_t samples = 0;  // evaluated, over all ranks
  double loss = 0;      // their mean; without meaning when skipped
};

// The loss of samples first, first + step ... below end, each rounded to the grid of order-free sums. Throws
// std::exception when it cannot.
using EvaluateBatch = std::function<int64_t(int64_t first, int64_t end, int64_t step)>;

inline constexpr double kEvaluationGrid = 0x1p20;

EvaluationReport evaluate_with_fallback(Collectives& collectives, const EvaluationPlan& plan,
                                        const EvaluateBatch& evaluate_batch);

}  // namespace trainer
