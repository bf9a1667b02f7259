// lost_calls: checks whether all members of a communicator made the same calls among those that their rings
// have lost.
#pragma once

#include <string>

#include "harness/diagnose/model/view.h"

namespace rankfault {

// Returns why it is unknown whether all members made the same calls. Returns "" if it is known, if no calls
// are lost, and if PyTorch numbers the calls.
std::string lost_calls_may_differ(const CommGroup&);

}  // namespace rankfault
