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
};

// stdout and stderr of a program that ends by itself within the limit; nullopt: it could not be
// started, failed, or did not end.
std::optional<std::string> capture(const std::vector<std::string>& argv, const CaptureOptions& = {});

}  // namespace rankfault
