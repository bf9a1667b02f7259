// start_otherwise: what a `start` fault does to the list of what is to be started.
#pragma once

#include <vector>

#include "harness/launch/launcher.h"

namespace rankfault {

// In the first attempt only: a restarted rank is started as it should be.
void start_otherwise(const LaunchContext&, std::vector<LaunchItem>&);

}  // namespace rankfault
