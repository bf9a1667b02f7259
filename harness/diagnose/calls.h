// calls: puts the calls of one process together from its records and its lanes' states.
#pragma once

#include "harness/diagnose/view.h"

namespace rankfault {

// Fills Process::calls, shapes and waits_for from its view. False when its history could not be read.
bool build_calls(Process&);

}  // namespace rankfault
