// start_faults: applies a `start` fault to the list of commands to be started.
#pragma once

#include <vector>

#include "harness/launch/launcher.h"

namespace rankfault {

// Changes the first attempt only: a restarted rank starts as it should.
void start_otherwise(const LaunchContext&, std::vector<LaunchItem>&);

// kMissing when the fault points a rank to a library folder that this machine lacks: the loader would
// continue with the next folder, and the fault would have no effect.
Status libraries_there(const LaunchContext&);

}  // namespace rankfault
