// file_effect: what the faults on the job's own files share: which files, and whether somebody then read or
// missed one.
#pragma once

#include "faults/effect.h"

namespace rankfault {

// `path`, else the trigger's own: a pattern of names below the job's TMPDIR.
Result<std::string> file_pattern(const FaultSpec&);

// One action for each victim, and one that has every opening of such a file recorded: no other call tells
// that the harm was met.
Result<std::vector<Action>> harm_file(const FaultSpec&, const LowerContext&,
                                      const std::function<void(Action&)>& fill);

// Whether somebody read a file that this action harmed: the first opening of that very file, for reading and
// before anybody emptied it. `met` ends the sentence "rank 1 opened ckpt.bin ..."; `nobody` says that none
// did.
EffectReport read_afterwards(const RunFacts&, const Action&, const std::string& met,
                             const std::string& nobody);

// The first opening that missed a file which this action removed, and that nobody had made anew.
struct FileMissed {
  int rank = -1;
  TimeNs time = 0;
  std::string path;
};
std::optional<FileMissed> missed_afterwards(const RunFacts&, const Action&);

// Whether a `fail_call` of the plan, and nothing the kernel lacked, ended this file call of `process` with
// its error: `end` is its last record, `path` the file.
bool ended_by_fail_call(const RunFacts&, const ProcessView& process, const rf_record& end,
                        const std::string& path);

}  // namespace rankfault
