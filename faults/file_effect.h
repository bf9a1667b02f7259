// file_effect: shared by the faults on the job's own files: which files, and whether a process then read or
// missed one.
#pragma once

#include "faults/effect.h"
#include "harness/observe/call_history.h"

namespace rankfault {

// `path`, else the trigger's own: a pattern of names below the job's TMPDIR.
Result<std::string> file_pattern(const FaultSpec&);

// One action for each victim, and one that records every opening of such a file: no other call shows that a
// process met the damage.
Result<std::vector<Action>> harm_file(const FaultSpec&, const LowerContext&,
                                      const std::function<void(Action&)>& fill);

// Whether a process read a file that this action damaged: the first opening of that very file for reading,
// before any process truncated it to zero. `met` ends the sentence "rank 1 opened ckpt.bin ..."; `nobody`
// says that no process did.
EffectReport read_afterwards(const RunFacts&, const Action&, const std::string& met,
                             const std::string& nobody);

// The first opening that failed because this action had removed the file and no process had made it anew.
struct FileMissed {
  int rank = -1;
  Instant time;
  std::string path;
};
std::optional<FileMissed> missed_afterwards(const RunFacts&, const Action&);

// Whether a `fail_call` of the plan, and not the kernel, ended this call on a file with its error.
bool ended_by_fail_call(const RunFacts&, const CallHistory&, const RecordedCall&);

}  // namespace rankfault
