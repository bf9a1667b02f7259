// progress_check: gathers and compares the steps.
#include "workloads/trainer/progress_check.h"

#include "workloads/trainer/collectives.h"

namespace trainer {

std::string ranks_elsewhere(Collectives& collectives, int64_t step) {
  const std::vector<uint64_t> steps = collectives.all_gather(static_cast<uint64_t>(step));
  std::string elsewhere;
  for (size_t rank = 0; rank < steps.size(); ++rank)
    if (steps[rank] != static_cast<uint64_t>(step))
      elsewhere += (elsewhere.empty() ? "rank " : ", rank ") + std::to_string(rank) + " is at step " +
                   std::to_string(steps[rank]);
  return elsewhere;
}

}  // namespace trainer
