// small_folder: shared by the faults that give the job a small file system of its own.
#pragma once

#include "faults/effect.h"

namespace rankfault {

// Mounted before the job starts, for all its ranks. `path` is /dev/shm, or a name in the job's TMPDIR.
Result<Action> mount_small_folder(const FaultSpec&, const LowerContext&, const std::string& path);

// The journal line about that fault's file system; none.
LineOf<events::Mounted> mounted_line(const RunFacts&, const std::string& fault);

}  // namespace rankfault
