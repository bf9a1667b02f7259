// rank_end_line: the journal's line about the end of a process.
#pragma once

#include "harness/base/rank_end.h"
#include "harness/journal/run_events.h"

namespace rankfault {

events::RankEnd line_of(const RankEnd&);

}  // namespace rankfault
