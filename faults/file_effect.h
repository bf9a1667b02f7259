// file_effect: what the faults on the job's own files share: which files, and whether somebody then opened
// one.
#pragma once

#include "faults/effect.h"

namespace rankfault {

// `path`, else the trigger's own: a pattern of names below the job's TMPDIR.
Result<std::string> file_pattern(const FaultSpec&);

// One action for each victim, and one that has every opening of such a file recorded: no other call tells
// that the harm was met.
Result<std::vector<Action>> harm_file(const FaultSpec&, const LowerContext&,
                                      const std::function<void(Action&)>& fill);

// The first opening of a file that this action harmed, after the harm, that ended so: 0 or an errno.
struct FileOpened {
  int rank = -1;
  TimeNs time = 0;
  std::string path;
};
std::optional<FileOpened> opened_afterwards(const RunFacts&, const Action&, int error);

// Whether a `fail_call` of the plan, and nothing the kernel lacked, ended this file call of `process` with
// its error: `end` is its last record, `path` the file.
bool ended_by_fail_call(const RunFacts&, const ProcessView& process, const rf_record& end,
                        const std::string& path);

}  // namespace rankfault
