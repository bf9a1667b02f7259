// Preflight: checks for defects before the first step, and describes each in one line.
//
// Each check takes what it examines as an argument, so that a test can plant the defect. preflight() passes
// the values of this host.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace trainer {

class Collectives;

using Defects = std::vector<std::string>;

// Variables that look like settings but do nothing: no library reads them, or it reads another name.
Defects useless_variables(const std::map<std::string, std::string>& environment);

// Less than `needed` bytes free in the file system of `path`, or of its nearest parent that exists.
Defects too_little_space(const std::string& path, uint64_t needed);

// Shared-memory segments of known libraries that no live process holds: their job is gone. The line says so
// if a segment has size 0, or if its owner cannot open it. The check removes nothing: that is the operator's
// decision.
Defects stale_segments(const std::string& directory);

// Fewer allowed descriptors than a full mesh of `ranks` ranks needs.
Defects too_few_descriptors(uint64_t allowed, int ranks);

// A test all-reduce with a wrong result. All ranks call it. Throws CollectiveError.
Defects wrong_all_reduce(Collectives& world);

struct PreflightNeeds {
  std::string checkpoint_dir;  // "": not checked
  uint64_t checkpoint_bytes = 0;
  uint64_t shm_bytes = 0;
};

// All defects of this host and this process. All ranks call it.
Defects preflight(const PreflightNeeds& needs, Collectives& world);

}  // namespace trainer
