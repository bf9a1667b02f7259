// journal_words: a line of the journal in one sentence, with its rank, for the events that decide an
// expectation.
#pragma once

#include <string>

#include "harness/journal/journal_line.h"

namespace rankfault::html {

struct LineWords {
  std::string text;
  int rank = -1;     // -1: of no rank
  Instant happened;  // where the line has it, else when it was written
};

LineWords words_of(const JournalLine&);

}  // namespace rankfault::html
