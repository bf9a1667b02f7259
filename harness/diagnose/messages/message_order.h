// message_order: sorts the sends and receives of NCCL into the order in which the library matches them: by
// their position among the messages of one communicator, pair and direction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "harness/diagnose/model/view.h"

namespace rankfault {

using MessagesByPeer = std::map<int, std::vector<const Call*>>;

// For members of one JobView. It caches its answers and is not thread-safe.
class MessageOrder {
 public:
  // Returns null if the order is unknown: several threads made the calls, a call has 0 elements, or some
  // calls are not recorded.
  const MessagesByPeer* of(const Member&, uint16_t op);

 private:
  std::map<std::pair<const Member*, uint16_t>, std::optional<MessagesByPeer>> known_;
};

}  // namespace rankfault
