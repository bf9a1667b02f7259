// InstalledFiles: the files of rankfault that a run needs: its programs, the agent and the libraries that the
// ranks preload.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/launch/cuda_double.h"
#include "harness/plan/plan.h"

namespace rankfault {

struct InstalledFiles {
  std::string bin_dir;  // the folder of this program: {bin}
  std::string agent;    // path of librankfault_agent.so; "": the job starts without it
  std::vector<std::string> extra_preload;
  std::optional<CudaDouble> cuda;  // set if the workload runs over the double of CUDA
};

// Finds the files next to this program. Fails if the workload needs a double of CUDA that is not there.
Result<InstalledFiles> find_installed_files(const Plan&, bool with_agent);

// LD_PRELOAD is split at blanks, colons and semicolons. If the paths contain one, replaces them by paths
// through a link in `tmp`.
Status give_plain_paths(InstalledFiles&, const std::string& tmp);

}  // namespace rankfault
