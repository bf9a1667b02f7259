// Exit codes of the tool, all in one place.
#pragma once

#include "harness/base/result.h"

namespace rankfault {

enum ExitCode {
  kExitPass = 0,
  kExitFail = 1,
  kExitUnknown = 2,  // unknown or void
  kExitCleanupIncomplete = 3,
  kExitUsage = 64,
  kExitInternal = 70,
  kExitHost = 71,  // the machine refuses something that a run needs
  kExitSkipped = 77,
  kExitInterrupted = 130,  // SIGINT, after cleanup; 128 + N for signal N, as in shells: SIGHUP 129
  kExitTerminated = 143,   // SIGTERM, after cleanup
};

ExitCode exit_of(const Error&);

}  // namespace rankfault
