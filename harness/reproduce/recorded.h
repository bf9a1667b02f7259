// recorded: the job of a run directory or of a folder of Flight Recorder dumps, at the time of its hang.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/diagnose/finding.h"
#include "harness/observe/timeline.h"

namespace rankfault {

struct RecordedJob {
  std::string kind = {};  // "run" or "flight_recorder"
  Timeline timeline = {};
  Timeline last = {};  // of a run: the last look, when more ranks may have come to their waits
  // The first cause is the first; kind "none" or "cannot_say": no hang was found.
  std::vector<Finding> findings = {};
  std::vector<std::string> notes = {};  // files that could not be read, ranks without a dump
};

// Reads the flight records and the looks alone, never the plan: what was injected is not known. The timeline
// is that of the first look that has the cause.
Result<RecordedJob> recorded_run(const std::string& run_dir);

Result<RecordedJob> recorded_dumps(const std::vector<std::string>& paths);
// The whole histories of these ranks alone.
Result<Timeline> whole_dumps(const std::vector<std::string>& paths, const std::vector<int>& ranks);

bool is_run_directory(const std::string& path);

}  // namespace rankfault
