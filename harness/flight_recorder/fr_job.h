// fr_job: the Flight Recorder dumps of a job -> the Timeline that diagnosis reads.
//
// Dumps are read one at a time and reduced at once. For each process and group, the result keeps how far it
// came and the calls that are not complete. If the members of a group did not make the same call, it also
// keeps the calls around that one, from a second reading of these dumps. So memory grows with the number of
// ranks and groups, not of entries.
//
// Nothing that a dump lacks is guessed: reduce ops and roots are unknown, the time of the dump is that of the
// newest event of the job, and a rank without a dump is a rank without a record.
#pragma once

#include <string>
#include <vector>

#include "harness/flight_recorder/read_dumps.h"
#include "harness/observe/timeline.h"

namespace rankfault {

struct FrJob {
  Timeline timeline;
  std::vector<FrEvidence> evidence;  // files left out, dumps that could not be read, ranks without a dump
  size_t dumps = 0;
  std::string not_one_job;  // why the dumps cannot belong to one job, so that the timeline means nothing;
                            // else ""
};
// kWhole: the result keeps all calls of the dumps (at most 100,000 of each), for the few ranks that are looked at closely.
enum class FrHistory { kAroundTrouble, kWhole };
// Errors: a path that cannot be read, or no dump at all among the files.
Result<FrJob> read_fr_job(const std::vector<std::string>& paths, const FrLimits& limits = {},
                          FrHistory = FrHistory::kAroundTrouble);

// True when the folder holds a file that is a dump by its first bytes.
bool looks_like_dumps(const std::string& path);

}  // namespace rankfault
