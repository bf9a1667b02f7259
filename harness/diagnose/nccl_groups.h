// nccl_groups: the calls that one ncclGroupStart and its end hold together.
#pragma once

#include "harness/diagnose/view.h"

namespace rankfault {

// Whether the call was made in a group, as far as the record of its lane reaches back.
bool in_nccl_group(const Process&, const Call&);

// The end of its group, when the call's lane sits in it; null.
const Call* open_group_end(const Process&, const Call&);

}  // namespace rankfault
