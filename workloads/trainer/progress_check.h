// progress_check: are all ranks at the same step? It gathers the step numbers every few steps, which is
// cheap, and names a rank that is at another step before anything hangs. The interval counts rounds of the
// loop, not step numbers: otherwise a rank at another step would make the check at another time than its
// peers, and the check would hang the job.
#pragma once

#include <cstdint>
#include <string>

namespace trainer {

class Collectives;

// "" if all ranks are at `step`; otherwise each other rank with its step.
std::string ranks_elsewhere(Collectives& collectives, int64_t step);

}  // namespace trainer
