// evaluation: the model's loss on samples that training never uses.
//
// Either rank 0 evaluates alone and broadcasts the loss, and every rank makes the broadcast. If the broadcast
// stands inside `if rank == 0`, only the root makes it: its call returns at once, and the peers' next call
// receives its data. Or all ranks evaluate, each its share, with a fallback if one of them fails.
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

// Each rank writes the losses of each batch to its own file in options.evaluation_dir, which may fail.
// Without the fallback, a failure is thrown as std::runtime_error.
EvaluationReport evaluate_shares(Collectives& collectives, const Model& model, const Dataset& dataset,
                                 const StepOptions& options);

// Further work of the evaluation of large models: gathers hidden states of all ranks, and sums large vectors.
// For both, a log line shows the number of elements of this rank.
void gather_and_sum(Collectives& collectives, const StepOptions& options);

}  // namespace trainer
