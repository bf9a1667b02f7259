// nccl_meeting: gives the unique id of a communicator to all ranks of a NCCL job.
#pragma once

#include <nccl.h>

#include <memory>

#include "workloads/trainer/nccl_patience.h"

namespace trainer {

std::shared_ptr<NcclJob> job_of(const Meeting& meeting);

// Rank 0 makes the id and writes it to the store, and the other ranks read it there. Throws CollectiveError.
ncclUniqueId exchange_id(const Meeting& meeting, NcclJob& job);

}  // namespace trainer
