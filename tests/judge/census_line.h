// census_line: the journal line of a census that looked at all kinds and found nothing.
#pragma once

#include "harness/base/json.h"

namespace rankfault::test {

inline const Json kCensus = {{"processes", 0},  {"shm", 0},  {"sockets", 0},
                             {"temp_files", 0}, {"sysv", 0}, {"queues", 0}};

}  // namespace rankfault::test
