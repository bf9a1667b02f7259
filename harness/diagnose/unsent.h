// unsent: messages that somebody waits for, and whose other side is over: it has finalised, or ended.
#pragma once

#include <optional>

#include "harness/diagnose/waits.h"

namespace rankfault {

// JobView::unsent(): waits for messages that hold their rank, grouped by call; of each all those that would
// do have ended or finalised.
struct Unsent {
  std::vector<WaitEdge> edges;  // is_need is set on those of an OR: all of them are here
  std::vector<End> ends;
  bool ended_badly = false;      // the one partner died or exited with an error: a finding of its own
  std::optional<int> other_tag;  // of a message of that partner that nobody received
};

// Two calls belong to a message and one is missing: both sides, nobody blamed, and the proof.
Finding tell_unsent(const JobView&, const Unsent&);  // missing_call

}  // namespace rankfault
