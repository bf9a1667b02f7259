// diagnosed_run: repeats the diagnosis of a finished or copied run: every journaled look again, in order.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/diagnose/finding.h"
#include "harness/journal/journal_line.h"
#include "harness/observe/timeline.h"

namespace rankfault {

struct DiagnosedRun {
  // As the run journaled them. The kind is `cannot_say` where nothing is wrong in what is left of the run:
  // the journal ends before the run did, or records are missing.
  Findings findings;
  std::vector<std::string> unread;        // the reason for each record that cannot be read
  std::optional<events::History> losses;  // calls that the records lost
};

// `each` gets each look with what was found in it; may be empty. A run without looks is diagnosed from its
// final state, as one look.
using EachLook = std::function<void(Timeline&&, const Findings&)>;
Result<DiagnosedRun> diagnose_run(const std::string& run_dir, const EachLook& each = {});

}  // namespace rankfault
