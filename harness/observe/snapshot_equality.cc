#include "harness/observe/snapshot_equality.h"

#include <cstring>

namespace rankfault {
namespace {

bool same(const LaneView& a, const LaneView& b) {
  return a.index == b.index && a.kind == b.kind && a.owner == b.owner && a.head == b.head &&
         a.dropped == b.dropped && std::memcmp(&a.state, &b.state, sizeof a.state) == 0;
}

bool same(const CommView& a, const CommView& b) {
  return a.index == b.index && a.id == b.id && a.entered == b.entered && a.completed == b.completed &&
         a.issuers == b.issuers && a.sends == b.sends && a.receives == b.receives && a.calls == b.calls &&
         a.destroyed == b.destroyed && a.error == b.error && a.flags == b.flags;
}

}  // namespace

bool same_words(const ProcessView& a, const ProcessView& b) {
  if (a.stage != b.stage || a.rank != b.rank || a.generation != b.generation || a.partial != b.partial ||
      a.opaque != b.opaque || a.polled != b.polled || a.lanes.size() != b.lanes.size() ||
      a.comms.size() != b.comms.size())
    return false;
  for (size_t i = 0; i < a.lanes.size(); ++i)
    if (!same(a.lanes[i], b.lanes[i])) return false;
  for (size_t i = 0; i < a.comms.size(); ++i)
    if (!same(a.comms[i], b.comms[i])) return false;
  return true;
}

}  // namespace rankfault
