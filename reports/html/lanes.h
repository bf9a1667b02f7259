// lanes: what each rank did, for the timeline: its calls, steps and marks, packed, and how it ended.
#pragma once

#include "reports/html/shapes.h"
#include "reports/report.h"

namespace rankfault::html {

struct Lanes {
  Json lanes = Json::array();  // one for each process of each attempt, by rank
  Instant last_progress;       // the last collective or message that ended with success
  uint64_t calls = 0;          // in the page
  uint64_t left_out = 0;       // calls that the record has and the page has not: the oldest of their rank
  uint64_t lost = 0;           // records that the run itself no longer has
  uint64_t marks_left_out = 0;
};

// At most `most_calls` calls of each process: the newest, and the oldest ones that failed or never ended.
Lanes lanes_of(const RunFacts&, Shapes&, Texts&, uint64_t most_calls);

// The bound for each process under which the page has at most `budget` calls of these runs.
uint64_t calls_of_each(const std::vector<const RunFacts*>& runs, uint64_t budget);

}  // namespace rankfault::html
