// limited_collectives: collectives of any library with a limit for each call, chosen by a policy, and an
// error that says which call it was.
#pragma once

#include "workloads/trainer/limit_keeper.h"

namespace trainer {

// `keeper` is null where the library keeps the limits itself. Groups made from it obey the same policy.
std::unique_ptr<Collectives> with_limits(std::unique_ptr<Collectives> inner, const LimitPolicy& policy,
                                         std::shared_ptr<LimitKeeper> keeper);

std::shared_ptr<LimitKeeper> keeper_of(LimitsBy, int rank);

}  // namespace trainer
