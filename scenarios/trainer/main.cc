// trainer: the reference workload, data-parallel training over Gloo with every defence it can have.
#include <csignal>
#include <iostream>

#include "scenarios/trainer/train.h"

int main(int argc, char** argv) {
  const trainer::ParsedOptions parsed = trainer::parse_options({argv + 1, argv + argc});
  if (parsed.help) {
    std::cout << trainer::kUsage;
    return trainer::kExitOk;
  }
  if (!parsed.error.empty()) {
    std::cerr << "trainer: " << parsed.error << "\n" << trainer::kUsage;
    return trainer::kExitUsage;
  }
  // Gloo writes to a peer that is gone without MSG_NOSIGNAL: that is to be an error, not our end.
  std::signal(SIGPIPE, SIG_IGN);
  return trainer::train(parsed.options);
}
