// evaluation_fallback: a failed evaluation does not end the training.
//
// All ranks evaluate their shares of the same samples. They sum their failures together with the losses, so
// every rank has the same information and takes the same branch. After a failure they try again with half the
// batch, at most three times. If the last try fails on a rank, the result counts if it covers at least half
// of the samples. Otherwise this evaluation has no result.
#pragma once

#include <cstdint>
#include <functional>

namespace trainer {

class Collectives;

struct EvaluationPlan {
  int64_t samples = 64;
  int64_t batch = 64;  // in the first try, over all ranks
  int tries = 3;
  // Switches: each turns off one defence.
  bool fall_back = true;  // off: a failure is thrown to the caller
  bool agree = true;      // off: each rank reacts to its own failure only
};

struct EvaluationReport {
  enum class Outcome { kWhole, kPartial, kSkipped } outcome = Outcome::kSkipped;
  int tries = 0;
  int64_t samples = 0;  // evaluated, over all ranks
  double loss = 0;      // their mean; meaningless if skipped
};

// Returns the sum of the losses of the samples first, first + step ... below end, each rounded to the grid of
// order-free sums. Throws std::exception on failure.
using EvaluateBatch = std::function<int64_t(int64_t first, int64_t end, int64_t step)>;

inline constexpr double kEvaluationGrid = 0x1p20;

EvaluationReport evaluate_with_fallback(Collectives& collectives, const EvaluationPlan& plan,
                                        const EvaluateBatch& evaluate_batch);

}  // namespace trainer
