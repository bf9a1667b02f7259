#include "harness/diagnose/messages/message_order.h"

#include "harness/diagnose/messages/messages.h"

namespace rankfault {
namespace {

std::optional<MessagesByPeer> read(const Member& m, uint16_t op) {
  if (!nccl_messages_known(m) || m.process->view->history_lost != 0) return std::nullopt;
  MessagesByPeer found;
  const Call* first = nullptr;
  for (const Call& c : m.process->calls) {
    if (c.comm() != m.comm->index || c.op() != op || c.status == Call::Status::kFailed) continue;
    if (c.count() == 0 || (first && c.lane != first->lane)) return std::nullopt;
    first = &c;
    found[c.peer()].push_back(&c);
  }
  return found;
}

}  // namespace

const MessagesByPeer* MessageOrder::of(const Member& m, uint16_t op) {
  auto at = known_.find({&m, op});
  if (at == known_.end()) at = known_.emplace(std::pair(&m, op), read(m, op)).first;
  return at->second ? &*at->second : nullptr;
}

}  // namespace rankfault
