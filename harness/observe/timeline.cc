// timeline: which process is which rank.
#include "harness/observe/timeline.h"

namespace rankfault {

const CommView* ProcessView::comm(uint32_t index) const {
  for (const CommView& c : comms)
    if (c.index == index) return &c;
  return nullptr;
}

std::optional<std::vector<Event>> ProcessView::events() const {
  return source ? source->events() : std::optional(history);
}

// If several processes claim the rank: a member before a candidate, then the newest.
const ProcessView* Timeline::rank(int of_attempt, int wanted) const {
  const ProcessView* best = nullptr;
  for (const ProcessView& p : processes) {
    if (p.attempt != of_attempt || p.rank != wanted || p.helper) continue;
    const bool member = p.stage >= RF_STAGE_MEMBER;
    const bool best_member = best && best->stage >= RF_STAGE_MEMBER;
    if (!best || (member && !best_member) || (member == best_member && p.opened >= best->opened)) best = &p;
  }
  return best;
}

bool is_collective(uint16_t op) { return rf_is_collective(op); }

}  // namespace rankfault
