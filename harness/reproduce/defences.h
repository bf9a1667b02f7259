// defences: runs a scenario that was reproduced once more with each defence that a trainer can have, to show
// which of them would have caught this hang, how soon, and what it would have said.
//
// The replaying program has them: a limit of each call, and a check at the end of the program whether all
// ranks made the same calls. What a defence says depends on its program; that it can say something does not.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/reproduce/scenario_text.h"

namespace rankfault {

struct Defence {
  std::string name;               // "step-check"
  std::vector<std::string> args;  // of the replaying program
};
std::vector<Defence> defences();

struct Defended {
  bool caught = false;  // the job ended by itself
  double after_s = 0;   // from the divergence to the end of the first rank
  std::string said;     // the line that names the defence, or the first error
  std::string run_dir;
};
Result<Defended> defend(const Written&, const std::string& file, const Defence&,
                        const std::atomic<int>* interrupted);

}  // namespace rankfault
