// train: the loop of data-parallel SGD, with its defences.
#pragma once

#include "scenarios/trainer/options.h"

namespace trainer {

enum ExitCode {
  kExitOk = 0,
  kExitCollective = 3,  // a collective timed out or lost a peer
  kExitMismatch = 4,    // the ranks do not agree on what they did
  kExitLocal = 5,       // this rank's own trouble, or one that a peer announced
  kExitUsage = 64,
};

int train(Options options);

}  // namespace trainer
