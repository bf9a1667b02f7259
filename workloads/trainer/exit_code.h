// ExitCode: how a rank ended, for whoever restarts it.
#pragma once

namespace trainer {

enum ExitCode {
  kExitOk = 0,
  kExitCollective = 3,  // a collective timed out or lost a peer
  kExitMismatch = 4,    // the ranks do not agree on what they did
  kExitLocal = 5,       // this rank's own trouble, or one that a peer announced
  kExitStopped = 6,     // asked to stop; all ranks left together after a checkpoint
  kExitEscalated = 7,   // the supervisor's: restarting was no cure
  kExitExcluded = 8,    // was late, and the others went on without it
  kExitPreflight = 9,   // refused to start
  kExitUsage = 64,
};

}  // namespace trainer
