#include "harness/diagnose/model/nccl_groups.h"

#include <vector>

namespace rankfault {
namespace {

enum { kStart = 0, kEnd = 1 };  // the tag of a group record

bool is_group(const Call& c, int which) { return c.op() == RF_OP_GROUP && c.tag() == which; }

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

std::map<const Call*, int> nccl_groups(const Process& process) {
  struct Lane {
    int depth = 0;
    std::vector<const Call*> open, outside;  // of the outermost group; of no known group
  };
  std::map<uint32_t, Lane> lanes;
  std::map<const Call*, int> groups;
  int number = 0;
  for (const Call& c : process.calls) {
    Lane& lane = lanes[c.lane];
    if (is_group(c, kStart)) {
      if (c.status != Call::Status::kFailed) ++lane.depth;
    } else if (!is_group(c, kEnd)) {
      (lane.depth > 0 ? lane.open : lane.outside).push_back(&c);
    } else if (lane.depth == 0) {
      for (const Call* unknown : lane.outside) groups[unknown] = kNoClosedGroup;
      lane.outside.clear();
    } else if (--lane.depth == 0) {
      ++number;
      for (const Call* in : lane.open) groups[in] = c.open() ? kNoClosedGroup : number;
      lane.open.clear();
    }
  }
  for (const auto& [index, lane] : lanes)
    for (const Call* in : lane.open) groups[in] = kNoClosedGroup;
  return groups;
}

const Call* open_group_end(const Process& process, const Call& call) {
  const Call* end = process.inside(call.lane);
  if (!end || !is_group(*end, kEnd)) return nullptr;
  int depth = 0;
  const Call* start = nullptr;  // of the outermost open group
  for (const Call& c : process.calls) {
    if (c.lane != call.lane || c.status == Call::Status::kFailed) continue;
    if (is_group(c, kStart) && depth++ == 0) start = &c;
    if (is_group(c, kEnd) && &c != end && depth > 0) --depth;
  }
  return depth == 1 && start->number < call.number ? end : nullptr;
}

}  // namespace rankfault
