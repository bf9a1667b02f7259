// gradient_bucket: which of DDP's all_reduces of one backward() a call is.
//
// DDP sums the gradients in buckets: every backward() makes one all_reduce for each, always in the same order
// (Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 2020).
#pragma once

#include <string>

#include "harness/diagnose/model/view.h"

namespace rankfault {

// Returns "DDP gradient bucket 2 of 4"; "DDP gradient bucket 2" if no complete backward() of this shape is on
// record;
// "" if the call is of something else, or if the begin of its backward() is not on record.
std::string gradient_bucket_text(const Member&, const Call&);

}  // namespace rankfault
