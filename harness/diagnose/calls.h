// calls: puts the calls of one process together from its records and its lanes' states.
#pragma once

#include "harness/diagnose/view.h"

namespace rankfault {

// Fills Process::calls and waits_for from its view.
void build_calls(Process&);

}  // namespace rankfault
