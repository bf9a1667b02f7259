#include "harness/diagnose/messages/message_sizes.h"

#include <algorithm>
#include <map>

#include "harness/diagnose/messages/message_order.h"
#include "harness/diagnose/messages/messages.h"

namespace rankfault {
namespace {

bool had(const std::vector<const Call*>& calls, size_t places, uint64_t bytes) {
  return std::any_of(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(places),
                     [&](const Call* c) { return c->bytes() == bytes; });
}

bool waits_for_messages(const Member& m) {
  return m.process && m.comm && !m.process->has_streams() && m.comm->sends + m.comm->receives != 0 &&
         std::any_of(m.process->calls.begin(), m.process->calls.end(), [&](const Call& c) {
           return is_message(c.op()) && c.comm() == m.comm->index && c.status == Call::Status::kPending;
         });
}

void compare(UnevenPair pair, const std::vector<const Call*>& sends, const std::vector<const Call*>& receives,
             std::vector<UnevenPair>& found) {
  const size_t both = std::min(sends.size(), receives.size());
  size_t at = 0;
  while (at < both && sends[at]->bytes() == receives[at]->bytes()) ++at;
  if (at == both || sends[at]->succeeded() || receives[at]->succeeded()) return;
  pair.send = sends[at];
  pair.receive = receives[at];
  pair.place = at + 1;
  const bool send_is_new = !had(sends, at, pair.send->bytes()),
             receive_is_new = !had(receives, at, pair.receive->bytes());
  if (send_is_new != receive_is_new) pair.ahead = send_is_new ? pair.sender : pair.receiver;
  found.push_back(pair);
}

}  // namespace

std::vector<UnevenPair> uneven_messages(const JobView& job) {
  std::vector<UnevenPair> found;
  MessageOrder order;
  for (const CommGroup& group : job.comms()) {
    if (!group.traits().messages_by_order) continue;
    if (std::none_of(group.members.begin(), group.members.end(), waits_for_messages)) continue;
    std::map<const Member*, const MessagesByPeer*> sends, receives;
    for (const Member& m : group.members) {
      if (!m.process || !m.comm || m.process->has_streams()) continue;
      const MessagesByPeer *sent = order.of(m, RF_OP_SEND), *received = order.of(m, RF_OP_RECV);
      if (!sent || !received) continue;
      sends[&m] = sent;
      receives[&m] = received;
    }
    for (const auto& [sender, sent] : sends)
      for (const auto& [peer, calls] : *sent) {
        if (peer < 0 || static_cast<size_t>(peer) >= group.members.size()) continue;
        const Member* receiver = &group.members[static_cast<size_t>(peer)];
        const auto other = receives.find(receiver);
        if (other == receives.end() || receiver == sender) continue;
        const auto from_sender = other->second->find(sender->rank);
        if (from_sender != other->second->end())
          compare({&group, sender, receiver}, calls, from_sender->second, found);
      }
  }
  std::stable_sort(found.begin(), found.end(), [](const UnevenPair& a, const UnevenPair& b) {
    return std::max(a.send->entered, a.receive->entered) < std::max(b.send->entered, b.receive->entered);
  });
  return found;
}

}  // namespace rankfault
