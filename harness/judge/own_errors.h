// own_errors: the trouble that a rank detected itself: failed calls, error marks, log lines.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/facts/run_facts.h"

namespace rankfault {

struct OwnError {
  Instant time;  // not known of a log line
  std::string as;
  std::string text;
  std::string
      place;  // where it happened, comparable between runs: the operation, or the words without numbers
};

// timeout, mismatch, peer_lost, abort, other
const std::vector<std::string>& error_classes();

std::vector<OwnError> own_errors(const RunFacts&, int rank);

// Errors that do not indicate trouble, because the rank has the same error, of one class and at one place,
// without a fault: in the reference run, or before the first fault of this run.
class UsualErrors {
 public:
  // `errors`: own_errors() of that rank.
  UsualErrors(const RunFacts&, int rank, const std::vector<OwnError>& errors);
  std::string shown_in(const OwnError&) const;  // "in the reference run too"; empty: not a usual error

 private:
  std::set<std::pair<std::string, std::string>> reference_, before_;
};

}  // namespace rankfault
