// trainer (over Gloo), trainer_mpi and trainer_nccl: the reference workload: data-parallel training with
// defences against hangs, crashes and lost data.
#include <iostream>

#include "workloads/trainer/train.h"

int main(int argc, char** argv) {
  const trainer::ParsedOptions parsed = trainer::parse_options({argv + 1, argv + argc});
  if (parsed.help) {
    std::cout << trainer::kUsage << trainer::kStepUsage;
    return trainer::kExitOk;
  }
  if (!parsed.error.empty()) {
    std::cerr << "trainer: " << parsed.error << "\n" << trainer::kUsage;
    return trainer::kExitUsage;
  }
  return trainer::train(parsed.options);
}
