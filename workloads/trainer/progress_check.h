// progress_check: are all ranks at the same step? An all-gather of step numbers, every few steps: cheap, and
// it tells which rank is elsewhere while nothing hangs yet. When to ask is counted in rounds of the loop, not
// read from the step: a rank that is elsewhere would ask at another time than its peers, and the check would
// hang the job.
#pragma once

#include <cstdint>
#include <string>

namespace trainer {

class Collectives;

// "" when all are at `step`; else who is where.
std::string ranks_elsewhere(Collectives& collectives, int64_t step);

}  // namespace trainer
