// story: a run in one sentence, and its moments on the timeline.
#pragma once

#include "reports/html/lanes.h"

namespace rankfault::html {

// The first cause in one sentence; without one, the judgement's summary.
std::string page_story(const RunReport&);
// "ranks 0 1 3 ended with exit 3, rank 2 ended with SIGKILL".
std::string ends_text(const RunReport&);

// Each as {"t", "key", "what", "rank"}: A attempt, F fault, P last progress, D finding, E the job is ended.
Json moments_of(const RunReport&, Instant last_progress);

}  // namespace rankfault::html
