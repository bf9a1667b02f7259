// limited_collectives: collectives of any library, with a limit for each call that a policy chooses, and
// errors that name the call.
#pragma once

#include "workloads/trainer/limit_keeper.h"

namespace trainer {

// `keeper` is null if the library enforces the limits itself. Groups made from the result have the same
// policy.
std::unique_ptr<Collectives> with_limits(std::unique_ptr<Collectives> inner, const LimitPolicy& policy,
                                         std::shared_ptr<LimitKeeper> keeper);

std::shared_ptr<LimitKeeper> keeper_of(LimitsBy, int rank);

}  // namespace trainer
