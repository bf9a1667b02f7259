// joining: see joining.h.
#include "harness/diagnose/joining.h"

#include <algorithm>

namespace rankfault {
namespace {

// But for the files and allocations of the library itself.
const Call* newest_call(const Process& p) {
  const Call* newest = nullptr;
  for (const Call& c : p.calls)
    if (!rf_is_inner(c.op()) && (!newest || c.entered > newest->entered)) newest = &c;
  return newest;
}

// Split, shrink and grow of an old member name their parent.
bool is_initialisation(const Call& c) {
  return c.library() == RF_LIB_NCCL && c.op() == RF_OP_COMM_CREATE && c.comm() == RF_NO_COMM;
}

bool somebody_is_missing(const Process& p) {
  return std::any_of(p.seats.begin(), p.seats.end(), [](const auto& seat) {
    const CommGroup& group = *seat.first;
    return group.library == RF_LIB_NCCL && std::any_of(group.members.begin(), group.members.end(),
                                                       [](const Member& m) { return !m.process; });
  });
}

}  // namespace

std::vector<Joining> joining_nccl(const JobView& job) {
  std::vector<Joining> out;
  for (const auto& p : job.processes()) {
    const Call* const c = p->ended() ? nullptr : newest_call(*p);
    if (!c || !is_initialisation(*c)) continue;
    if (c->open() || (c->succeeded() && somebody_is_missing(*p))) out.push_back({p.get(), c});
  }
  return out;
}

}  // namespace rankfault
