// evaluation: rank 0 looks at samples that training never uses, and tells all ranks the loss.
//
// The broadcast is a call of every rank. Inside `if rank == 0` it is one rank's alone: the root's part is
// done at once, and what it sent is taken by the peers' next call.
#pragma once

#include <cstdint>

namespace trainer {

class Collectives;
class Dataset;
class Model;

double evaluate(Collectives& collectives, const Model& model, const Dataset& dataset,
                bool broadcast_on_rank_0_only);

}  // namespace trainer
