// capture: the output of a short helper program (mpirun --version), never of a job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/time.h"

namespace rankfault {

struct CaptureOptions {
  Duration limit{10'000'000'000};
  bool with_stderr = true;
  bool* too_slow = nullptr;  // out: the limit ended the program, so nothing is known about it
};

// The time limit for a program that is asked for its identity. On a busy machine Python takes many seconds to
// start, and a slow program is not a missing one. $RANKFAULT_PROBE_LIMIT, else 120 s.
Duration probe_limit();

// Returns stdout and stderr of a program that ends by itself within the limit; nullopt: it could not be
// started, failed, or did not end.
std::optional<std::string> capture(const std::vector<std::string>& argv, const CaptureOptions& = {});

}  // namespace rankfault
