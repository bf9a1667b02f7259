// read_environment: variables of a running process, as the kernel has held them since its exec.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"

namespace rankfault {

// {NAME: value} of the variables that are set. A secret value becomes a mask that can be compared. Null when
// the process is gone.
Json read_environment(int pid, const std::vector<std::string>& names);

}  // namespace rankfault
