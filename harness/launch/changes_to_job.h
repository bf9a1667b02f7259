// changes_to_job: how what a watched job gets differs from what its user wrote, for `watch -v`.
#pragma once

#include <string>
#include <vector>

#include "harness/launch/guardian.h"

namespace rankfault {

// One line for the words that are started, and one for each variable whose value differs from the tool's own.
std::vector<std::string> changes_to_job(const Command&);

}  // namespace rankfault
