// unreceived_messages: finds sent messages that their receiver never asked for, although it makes no more
// calls.
//
// The job need not hang, because a small message leaves its sender at once. Messages are counted per sender,
// receiver and tag. A receive with a wildcard may have been meant for any message that it fits, so it counts
// for all of them.
#pragma once

#include "harness/diagnose/finding.h"
#include "harness/diagnose/model/view.h"

namespace rankfault {

struct UnreceivedMessage {
  const CommGroup* group = nullptr;
  const Member* sender = nullptr;
  const Member* receiver = nullptr;
  const Call* send = nullptr;  // the last of these sends
  size_t sent = 0, asked_for = 0;
};
std::vector<UnreceivedMessage> leftover_messages(const JobView&);

// Makes a missing_call finding of a receive: it has both sides, blames no rank, and claims nothing, because
// the job may well have ended.
Finding describe_unreceived(const JobView&, const UnreceivedMessage&);

}  // namespace rankfault
