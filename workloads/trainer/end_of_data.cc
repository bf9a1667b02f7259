// end_of_data: counting samples.
#include "workloads/trainer/end_of_data.h"

#include <algorithm>

#include "workloads/trainer/collectives.h"
#include "workloads/trainer/options.h"

namespace trainer {

bool has_samples(const Options& options, int64_t step) {
  return options.samples == 0 || (step - 1) * options.batch + options.rank < options.samples;
}

int64_t last_step(const Options& options, Collectives& collectives) {
  if (options.samples == 0) return options.steps;
  if (options.end_of_data == EndOfData::kDropLast)
    return std::min(options.steps, options.samples / options.batch);
  if (options.end_of_data != EndOfData::kAgree) return options.steps;
  int64_t mine = 0;
  while (mine < options.steps && has_samples(options, mine + 1)) ++mine;
  return -collectives.max(-mine);
}

}  // namespace trainer
