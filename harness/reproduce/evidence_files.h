// evidence_files: sorts what a user names into recorded runs, Flight Recorder dumps and logs.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/reproduce/case.h"

namespace rankfault {

struct EvidenceFiles {
  std::vector<std::string> runs, dumps;  // directories; files or folders that hold dumps
  std::vector<std::string> logs;         // files
  std::vector<CaseEvidence> list;        // one entry for each path that was named
  std::string digest;                    // of all files together, 16 hexadecimal digits
};

// Folders are read one level deep, and one more for the logs of torchrun. Errors: a path that does not exist.
Result<EvidenceFiles> evidence_files(const std::vector<std::string>& paths);

}  // namespace rankfault
