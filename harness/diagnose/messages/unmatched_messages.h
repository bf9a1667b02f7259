// unmatched_messages: finds messages that a rank waits for and whose other side makes no more calls: it has
// finalised or ended.
#pragma once

#include <optional>

#include "harness/diagnose/waits/waits.h"

namespace rankfault {

// JobView::unsent(): waits for messages that hold their rank, grouped by call. For each call, all partners
// that could release it have ended or finalised.
struct UnmatchedMessage {
  std::vector<WaitEdge> edges;  // is_need is set on the edges of an OR, because all of them are here
  std::vector<End> ends;
  bool ended_badly = false;      // the only partner died or exited with an error: another finding reports it
  std::optional<int> other_tag;  // the tag of a message of that partner that no call received
};

// Two calls form a message and one is missing: the finding has both sides and the proof, and blames no rank.
Finding describe_unmatched(const JobView&, const UnmatchedMessage&);  // missing_call

}  // namespace rankfault
