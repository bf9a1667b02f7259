// train: the whole program of one rank: its meetings, and the training between them.
#pragma once

#include "workloads/trainer/exit_code.h"
#include "workloads/trainer/options.h"

namespace trainer {

// Until the end, or until meeting again no longer helps.
int train(const Options& options);

}  // namespace trainer
