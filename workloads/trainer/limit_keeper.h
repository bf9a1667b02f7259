// LimitKeeper: whoever ends a call that is past its limit, where the library has no limit of its own.
#pragma once

#include <functional>
#include <memory>

#include "workloads/trainer/limit_policy.h"

namespace trainer {

// Who keeps the limits of collectives.
enum class LimitsBy { kLibrary, kWatchdog, kAlarm, kAsyncError };

class LimitKeeper {
 public:
  virtual ~LimitKeeper() = default;

  // One call at a time. `interrupt` makes it fail, from any thread.
  virtual void begin(const CallInFlight& call, std::function<void()> interrupt) = 0;
  // The call was left. True: its limit passed meanwhile, and its communicator is broken.
  virtual bool end() = 0;
};

// A thread that looks at the call, and interrupts it once.
std::unique_ptr<LimitKeeper> watchdog(int rank);

// SIGALRM, as field notes advise. Its handler runs, and the call goes on: the wait inside is one that a
// signal does not end. The limit is noticed when the call returns by itself. Here to be shown wrong.
std::unique_ptr<LimitKeeper> alarm_limit();

// Nobody looks at the clock: a call ends by itself, or when the library's error state says so (over NCCL each
// wait asks ncclCommGetAsyncError). Here to be shown wrong.
std::unique_ptr<LimitKeeper> async_error_alone();

}  // namespace trainer
