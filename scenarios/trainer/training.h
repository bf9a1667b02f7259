// training: the loop of data-parallel SGD on ranks that have met, from the resume to the end.
#pragma once

#include <cstdint>

#include "scenarios/trainer/collectives.h"
#include "scenarios/trainer/exit_code.h"
#include "scenarios/trainer/options.h"

namespace trainer {

// `options` name the rank and the world that `collectives` has; `step` is where it is, for whoever catches a
// CollectiveError. Returns an ExitCode.
int run_training(const Options& options, Collectives& collectives, int64_t& step);

// Tells of a collective that failed; returns its ExitCode.
int collective_failed(const Options& options, const CollectiveError& error, int64_t step);

}  // namespace trainer
