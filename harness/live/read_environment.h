// read_environment: variables of a running process, as the kernel has them since its exec.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"

namespace rankfault {

// {NAME: value} of those that are set, of secret ones a mask that can be compared; null when the process is
// gone.
Json read_environment(int pid, const std::vector<std::string>& names);

}  // namespace rankfault
