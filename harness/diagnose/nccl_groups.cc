// nccl_groups: see nccl_groups.h.
#include "harness/diagnose/nccl_groups.h"

namespace rankfault {
namespace {

enum { kStart = 0, kEnd = 1 };  // the tag of a group record

bool is_group(const Call& c, int which) {
  return c.library() == RF_LIB_NCCL && c.op() == RF_OP_GROUP && c.tag() == which;
}

}  // namespace

bool in_nccl_group(const Process& process, const Call& call) {
  int depth = 0;
  bool came = false;
  for (const Call& c : process.calls) {
    if (c.lane != call.lane) continue;
    if (&c == &call) {
      if (depth > 0) return true;
      came = true;
    } else if (is_group(c, kStart) && c.status != Call::Status::kFailed) {
      ++depth;
    } else if (is_group(c, kEnd) && depth-- == 0) {
      if (came) return true;  // its start was lost
      depth = 0;
    }
  }
  return false;
}

const Call* open_group_end(const Process& process, const Call& call) {
  const Call* end = process.inside(call.lane);
  if (!end || !is_group(*end, kEnd)) return nullptr;
  int depth = 0;
  const Call* start = nullptr;  // of the group that is open last, its outermost
  for (const Call& c : process.calls) {
    if (c.lane != call.lane || c.status == Call::Status::kFailed) continue;
    if (is_group(c, kStart) && depth++ == 0) start = &c;
    if (is_group(c, kEnd) && &c != end && depth > 0) --depth;
  }
  return depth == 1 && start->number < call.number ? end : nullptr;
}

}  // namespace rankfault
