// ExitCode: why a rank ended, for the process that restarts it.
#pragma once

namespace trainer {

enum ExitCode {
  kExitOk = 0,
  kExitCollective = 3,  // a collective timed out or lost a peer
  kExitMismatch = 4,    // the ranks disagree on their calls or results
  kExitLocal = 5,       // this rank failed, or a peer reported a failure
  kExitStopped = 6,     // asked to stop; all ranks left together after a checkpoint
  kExitEscalated = 7,   // the supervisor: its failure window is full, or a restart cannot help
  kExitExcluded = 8,    // was late, and the others continued without it
  kExitPreflight = 9,   // found a defect and did not start
  kExitUsage = 64,
};

}  // namespace trainer
