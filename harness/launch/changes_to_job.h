// changes_to_job: what a watched job gets otherwise than its user wrote it, for `watch -v`.
#pragma once

#include <string>
#include <vector>

#include "harness/launch/guardian.h"

namespace rankfault {

// The words that are started, and each variable whose value is not the one that the tool was given. A line
// each.
std::vector<std::string> changes_to_job(const Command&);

}  // namespace rankfault
