// nccl_meeting: how the ranks of a NCCL job learn the unique id of their communicator.
#pragma once

#include <nccl.h>

#include <memory>

#include "workloads/trainer/nccl_patience.h"

namespace trainer {

std::shared_ptr<NcclJob> job_of(const Meeting& meeting);

// Rank 0 makes the id and leaves it in the store, the others take it from there. Throws CollectiveError.
ncclUniqueId exchange_id(const Meeting& meeting, NcclJob& job);

}  // namespace trainer
