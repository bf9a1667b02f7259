// Exit codes of the tool; one place.
#pragma once

namespace rankfault {

enum ExitCode {
  kExitPass = 0,
  kExitFail = 1,
  kExitUnknown = 2,  // unknown or void
  kExitCleanupIncomplete = 3,
  kExitUsage = 64,
  kExitInternal = 70,
  kExitSkipped = 77,
  kExitInterrupted = 130,  // SIGINT, after cleanup; 128 + N for signal N, as shells count: SIGHUP 129
  kExitTerminated = 143,   // SIGTERM, after cleanup
};

}  // namespace rankfault
