// evaluation_fallback: the tries, and one sum over all ranks after each.
#include "workloads/trainer/evaluation_fallback.h"

#include <algorithm>
#include <cstdio>
#include <exception>

#include "workloads/trainer/collectives.h"

namespace trainer {

namespace {

enum Numbers { kFailed, kDone, kLoss, kCount };

int64_t share_of(int64_t samples, int rank, int size) { return (samples - rank + size - 1) / size; }

// This rank's part of one try, up to its first failure.
void evaluate_mine(const Collectives& collectives, const EvaluationPlan& plan, int64_t batch,
                   const EvaluateBatch& evaluate_batch, int64_t* numbers) {
  try {
    for (int64_t begin = 0; begin < plan.samples; begin += batch) {
      const int64_t end = std::min(begin + batch, plan.samples);
      const int64_t loss = evaluate_batch(begin + collectives.rank(), end, collectives.size());
      numbers[kLoss] += loss;
      numbers[kDone] += share_of(end - begin, collectives.rank(), collectives.size());
    }
  } catch (const std::exception& error) {
    if (!plan.fall_back) throw;
    std::fprintf(stderr, "trainer: rank %d: evaluation with batch %lld failed: %s\n", collectives.rank(),
                 static_cast<long long>(batch), error.what());
    numbers[kFailed] = 1;
  }
}

}  // namespace

EvaluationReport evaluate_with_fallback(Collectives& collectives, const EvaluationPlan& plan,
                                        const EvaluateBatch& evaluate_batch) {
  using Outcome = EvaluationReport::Outcome;
  EvaluationReport report;
  for (int64_t batch = plan.batch; report.tries < plan.tries; batch = std::max<int64_t>(1, batch / 2)) {
    ++report.tries;
    int64_t numbers[kCount] = {};
    evaluate_mine(collectives, plan, batch, evaluate_batch, numbers);
    const bool failed_here = numbers[kFailed] != 0;
    collectives.sum(numbers, kCount);
    report.samples = numbers[kDone];
    if (report.samples > 0)
      report.loss =
          static_cast<double>(numbers[kLoss]) / kEvaluationGrid / static_cast<double>(report.samples);
    report.outcome = numbers[kFailed] == 0                ? Outcome::kWhole
                     : report.samples * 2 >= plan.samples ? Outcome::kPartial
                                                          : Outcome::kSkipped;
    if (plan.agree ? report.outcome == Outcome::kWhole : !failed_here) break;
  }
  return report;
}

}  // namespace trainer
