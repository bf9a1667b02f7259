// journal_facts: folds the lines of a journal into RunFacts.
#pragma once

#include <optional>

#include "harness/facts/run_facts.h"

namespace rankfault {

// Ends, gates, teardown, starvation, leftovers, findings and log marks. `facts.journal` is set.
void fold_journal(RunFacts& facts);

// The reference run that the journal names; "" for none.
std::string reference_named(const std::vector<Json>& journal);

// "HOST.PIDNS.PID.START.IMAGE", the stem of a process's files.
std::optional<ProcessId> process_from_stem(const std::string& stem);

uint64_t number_of_line(const Json& line);

// Number of lines that were lost before the last one: their line numbers are missing.
uint64_t lost_lines(const std::vector<Json>& journal);

}  // namespace rankfault
