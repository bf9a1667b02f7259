// nccl_groups: the calls that one ncclGroupStart and its end hold together.
#pragma once

#include <map>

#include "harness/diagnose/view.h"

namespace rankfault {

// Whether the call was made in a group, as far as the record of its lane reaches back.
bool in_nccl_group(const Process&, const Call&);

// The groups of a process's calls, by a number of their own; calls in no group are left out. kNoClosedGroup:
// the group is open, or its start was lost, so that it is not known which calls are in it.
constexpr int kNoClosedGroup = -1;
std::map<const Call*, int> nccl_groups(const Process&);

// The end of its group, when the call's lane sits in it; null.
const Call* open_group_end(const Process&, const Call&);

}  // namespace rankfault
