// journal_facts: folds the lines of a journal into RunFacts.
#pragma once

#include "harness/facts/run_facts.h"

namespace rankfault {

// Ends, gates, teardown, starvation, leftovers, findings and log marks. `facts.journal` is set.
void fold_journal(RunFacts& facts);

// The reference run that the journal names; "" for none.
std::string reference_named(const JournalLines& journal);

// Number of lines that were lost before the last one: their line numbers are missing.
uint64_t lost_lines(const JournalLines& journal);

}  // namespace rankfault
