// capture: the output of a short helper program (mpirun --version), never of a job.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rankfault {

// stdout and stderr of a program that ends by itself within ten seconds; nullopt: it could not be
// started, failed, or did not end.
std::optional<std::string> capture(const std::vector<std::string>& argv);

}  // namespace rankfault
