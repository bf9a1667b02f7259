// evaluation: a mean loss, and its broadcast.
#include "scenarios/trainer/evaluation.h"

#include "scenarios/trainer/collectives.h"
#include "scenarios/trainer/dataset.h"
#include "scenarios/trainer/model.h"

namespace trainer {

namespace {
constexpr int64_t kFirstSample = 1'000'000, kSamples = 64;
}  // namespace

double evaluate(Collectives& collectives, const Model& model, const Dataset& dataset,
                bool broadcast_on_rank_0_only) {
  double loss = 0;
  if (collectives.rank() == 0) {
    for (int64_t i = 0; i < kSamples; ++i) loss += model.loss(dataset.sample(kFirstSample + i));
    loss /= kSamples;
  }
  if (collectives.rank() == 0 || !broadcast_on_rank_0_only) collectives.broadcast(&loss, sizeof loss, 0);
  return loss;
}

}  // namespace trainer
