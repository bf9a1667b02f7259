// calls: assembles the calls of one process from its records and the states of its lanes.
#pragma once

#include "harness/diagnose/model/view.h"

namespace rankfault {

// Fills Process::calls, shapes and waits_for from the view. Returns false if the history could not be read.
bool build_calls(Process&);

}  // namespace rankfault
