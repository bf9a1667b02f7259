// train: the whole program of one rank: its meetings, and the training between them.
#pragma once

#include "workloads/trainer/exit_code.h"
#include "workloads/trainer/options.h"

namespace trainer {

// Trains until the end, or until a further meeting does not help. Returns an ExitCode.
int train(const Options& options);

}  // namespace trainer
