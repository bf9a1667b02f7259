// message_order: the sends and the receives of NCCL in the order in which the library matches them: by their
// place among those of one communicator, pair and direction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "harness/diagnose/view.h"

namespace rankfault {

using MessagesByPeer = std::map<int, std::vector<const Call*>>;

// Of members of one JobView; remembers what it was asked. Not for several threads.
class MessageOrder {
 public:
  // Null where the order is not known: calls of several threads, or of 0 elements, or not all are on record.
  const MessagesByPeer* of(const Member&, uint16_t op);

 private:
  std::map<std::pair<const Member*, uint16_t>, std::optional<MessagesByPeer>> known_;
};

}  // namespace rankfault
