// Preflight: what can be known to be wrong before the first step, each defect in one line that names it.
//
// Each check is a function of what it is given, so that a test can plant the defect; preflight() asks the
// host.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace trainer {

class Collectives;

using Defects = std::vector<std::string>;

// Variables that look like settings and are none: nobody reads them, or another name is read.
Defects useless_variables(const std::map<std::string, std::string>& environment);

// Fewer than `needed` bytes free where `path` lies (or would: its nearest parent that is there).
Defects too_little_space(const std::string& path, uint64_t needed);

// Shared-memory segments of known libraries that no live process holds: their job is gone. Those of size 0
// and those that their owner cannot open are told so. Nothing is removed: that is the operator's to decide.
Defects stale_segments(const std::string& directory);

// Fewer descriptors allowed than a full mesh of `ranks` takes.
Defects too_few_descriptors(uint64_t allowed, int ranks);

// A sum whose result is known. All ranks call it. Throws CollectiveError.
Defects wrong_all_reduce(Collectives& world);

struct PreflightNeeds {
  std::string checkpoint_dir;  // "": not asked
  uint64_t checkpoint_bytes = 0;
  uint64_t shm_bytes = 0;
};

// All of them, of this host and this process. All ranks call it.
Defects preflight(const PreflightNeeds& needs, Collectives& world);

}  // namespace trainer
