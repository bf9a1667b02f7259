// evaluation: how good the model is on samples that training never uses.
//
// By rank 0 alone, which tells all ranks the loss: the broadcast is a call of every rank. Inside `if rank ==
// 0` it is one rank's alone: the root's part is done at once, and what it sent is taken by the peers' next
// call. Or by all ranks, each its share, with a fallback where one of them fails.
#pragma once

#include <cstdint>

#include "workloads/trainer/evaluation_fallback.h"

namespace trainer {

class Collectives;
class Dataset;
class Model;
struct StepOptions;

double evaluate(Collectives& collectives, const Model& model, const Dataset& dataset,
                bool broadcast_on_rank_0_only);

// Each batch's losses are written to a file of this rank in options.evaluation_dir; that may fail. Without
// the fallback the failure is thrown, as std::runtime_error.
EvaluationReport evaluate_shares(Collectives& collectives, const Model& model, const Dataset& dataset,
                                 const StepOptions& options);

// What evaluations of large models do besides: hidden states of all ranks gathered, and large vectors summed.
// The number of elements that a log line tells is this rank's, in both.
void gather_and_sum(Collectives& collectives, const StepOptions& options);

}  // namespace trainer
