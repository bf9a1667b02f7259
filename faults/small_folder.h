// small_folder: what the faults share that give the job a small file system of its own.
#pragma once

#include "faults/effect.h"

namespace rankfault {

// Before the job is, for all its ranks. `path` is /dev/shm, or a name in the job's TMPDIR.
Result<Action> mount_small_folder(const FaultSpec&, const LowerContext&, const std::string& path);

// The journal's line about the one of that fault; null.
const Json* mounted_line(const RunFacts&, const std::string& fault);

}  // namespace rankfault
