// gather: joins files that a launcher program left into one log of a rank.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rankfault {

// The paths that match, sorted; never an error.
std::vector<std::string> files_matching(const std::string& glob);
// Copies one file after the other into `log` (replaced); the sources stay.
Status gather(const std::vector<std::string>& sources, const std::string& log);
std::string read_text(const std::string& path);  // "" when it cannot be read

}  // namespace rankfault
