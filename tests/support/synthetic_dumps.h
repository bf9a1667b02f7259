// SyntheticDumps: the Flight Recorder dumps of a job of any size in 3-D parallel groups (tensor x pipeline x
// data), with one thing broken. Simulated: each rank enqueues its calls in the order of its program, at most
// `ahead` of them not complete; a call completes when every member of its group has enqueued it and all calls
// before it on that rank are complete.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/flight_recorder/dump.h"

namespace rankfault::testing {

struct SyntheticJob {
  int tensor = 2, pipeline = 2, data = 2;
  int steps = 20;   // of about 8 calls each
  int ahead = 12;   // calls a host may have enqueued and not complete
  int kept = 2000;  // entries in a recorder's ring
  bool only_active = false;

  enum class Broken {
    kNothing,
    kHostStuck,    // stops enqueuing in the middle of the step
    kDeviceStuck,  // its own work never completes for it, others see theirs complete for a while
    kSkipped,      // leaves out one all-reduce of its data group, and goes on
    kOtherSize,    // makes one all-reduce of another size
    kNoDump,       // host stuck, and its dump is missing
    kTeardown,     // has ended its calls early, and its dump is empty
  } broken = Broken::kNothing;
  std::vector<int> culprits;
  int at_step = 10;
  std::vector<int> lost_dumps;  // of healthy ranks

  int ranks() const { return tensor * pipeline * data; }
};
const char* name_of(SyntheticJob::Broken);

// By rank; ranks whose dump is missing are left out.
std::vector<FrDump> synthetic_dumps(const SyntheticJob&);
void each_synthetic_dump(const SyntheticJob&, const std::function<void(FrDump)>&);

}  // namespace rankfault::testing
