// own_errors: the trouble that a rank noticed itself: failed calls, error marks, log lines.
#pragma once

#include <string>
#include <vector>

#include "harness/run/run_facts.h"

namespace rankfault {

struct OwnError {
  TimeNs time = 0;  // 0: known only after the run (a log line)
  std::string as;
  std::string text;
};

// timeout, mismatch, peer_lost, abort, other
const std::vector<std::string>& error_classes();

std::vector<OwnError> own_errors(const RunFacts&, int rank);

}  // namespace rankfault
