// lost_calls: see lost_calls.h. A ring keeps the last calls. The communicator's entry keeps a sum over all
// calls that took a place (rf_comm.calls). That sum, minus the calls still in the ring, is the sum of the
// lost calls.
#include "harness/diagnose/sequence/lost_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/proof/proof.h"

namespace rankfault {
namespace {

uint64_t sum_before(const Member& m, uint64_t seq) {
  uint64_t sum = m.comm->calls;
  for (const Call* c : m.calls)
    if (c->seq >= seq) sum -= rf_call_word(c->seq, c->op(), c->peer(), c->flags());
  return sum;
}

// PyTorch numbers these calls itself, and neither the agent nor a dump of the Flight Recorder sums them.
bool numbered_by_pytorch(const CommGroup& group) {
  return group.traits().pairing == Pairing::kByNumberOfLibrary ||
         std::any_of(group.members.begin(), group.members.end(),
                     [](const Member& m) { return m.process && m.process->has_streams(); });
}

}  // namespace

std::string lost_calls_may_differ(const CommGroup& group) {
  const uint64_t first = group.first_seq();
  if (first == 1 || numbered_by_pytorch(group)) return "";
  const auto lost = [&](std::string why) {
    return fmt::format("the records of the first {} calls on {} are lost, and {}", first - 1, group.name,
                       why);
  };
  const Member* example = nullptr;
  for (const Member& m : group.members) {
    if (!m.comm || m.comm->entered == 0) continue;     // it made no call that another rank's call could serve
    if (m.shift != 0) return why_not_known(m, group);  // the sums are over its own count
    if (m.comm->entered + 1 < first)
      return lost(fmt::format("rank {} made {} unknown calls", m.world_rank, m.comm->entered));
    if (!example) example = &m;
    if (sum_before(m, first) != sum_before(*example, first))
      return lost(fmt::format("their checksums show that ranks {} and {} made different calls",
                              example->world_rank, m.world_rank));
  }
  return "";
}

}  // namespace rankfault
