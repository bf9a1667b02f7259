// nccl_groups: the calls between one ncclGroupStart and its end.
#pragma once

#include <map>

#include "harness/diagnose/model/view.h"

namespace rankfault {

// Whether the call was made in a group, as far as the record of its lane reaches back.
bool in_nccl_group(const Process&, const Call&);

// Returns a group number for each call of a process, without the calls outside any group. kNoClosedGroup: the
// group is open, or its start was lost, so its calls are unknown.
constexpr int kNoClosedGroup = -1;
std::map<const Call*, int> nccl_groups(const Process&);

// Returns the end of the call's group if the call's lane is in it; else null.
const Call* open_group_end(const Process&, const Call&);

}  // namespace rankfault
