// leftover: messages that were sent, and that their receiver, which makes no call any more, never asked for.
//
// The job need not hang: a small message leaves its sender at once. Counted per sender, receiver and tag; a
// receive with a wildcard may have been meant for it, so it counts for all that it fits.
#pragma once

#include "harness/diagnose/finding.h"
#include "harness/diagnose/view.h"

namespace rankfault {

struct Leftover {
  const CommGroup* group = nullptr;
  const Member* sender = nullptr;
  const Member* receiver = nullptr;
  const Call* send = nullptr;  // the last one of them
  size_t sent = 0, asked_for = 0;
};
std::vector<Leftover> leftover_messages(const JobView&);

// missing_call of a receive: both sides, nobody blamed. No claim: the job may well have ended.
Finding tell_leftover(const JobView&, const Leftover&);

}  // namespace rankfault
