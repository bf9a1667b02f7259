// lost_calls: whether all members of a communicator made the same calls as long as their rings have lost
// them.
#pragma once

#include <string>

#include "harness/diagnose/view.h"

namespace rankfault {

// Why it is not known that all members made the same ones; "" where it is, where none are lost, and where
// PyTorch numbers the calls.
std::string lost_calls_may_differ(const CommGroup&);

}  // namespace rankfault
