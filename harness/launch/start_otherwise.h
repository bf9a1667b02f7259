// start_otherwise: what a `start` fault does to the list of what is to be started.
#pragma once

#include <vector>

#include "harness/launch/launcher.h"

namespace rankfault {

// In the first attempt only: a restarted rank is started as it should be.
void start_otherwise(const LaunchContext&, std::vector<LaunchItem>&);

// kMissing when a rank is to find its libraries in a folder that this machine lacks: the loader would go on
// with the next one, and the rank would not be started otherwise at all.
Status libraries_there(const LaunchContext&);

}  // namespace rankfault
