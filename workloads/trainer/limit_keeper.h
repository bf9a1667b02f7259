// LimitKeeper: ends a call that is past its limit, for libraries without limits of their own.
#pragma once

#include <functional>
#include <memory>

#include "workloads/trainer/limit_policy.h"

namespace trainer {

// What enforces the limits of collectives.
enum class LimitsBy { kLibrary, kWatchdog, kAlarm, kAsyncError };

class LimitKeeper {
 public:
  virtual ~LimitKeeper() = default;

  // Begins a call; only one may be in progress. `interrupt` makes it fail, and any thread may call it.
  virtual void begin(const CallInFlight& call, std::function<void()> interrupt) = 0;
  // The call has returned. True: its limit has passed, and its communicator is broken.
  virtual bool end() = 0;
};

// A thread that interrupts a call once, when its limit has passed.
std::unique_ptr<LimitKeeper> watchdog(int rank);

// SIGALRM, as field notes advise. The handler runs, but the call continues: a signal does not end the wait
// inside it. The keeper notices the limit only when the call returns by itself. It exists to show that this
// advice is wrong.
std::unique_ptr<LimitKeeper> alarm_limit();

// No limit: a call ends by itself, or when the library's error state reports an error (over NCCL, each wait
// calls ncclCommGetAsyncError). It exists to show that the error state alone is not enough.
std::unique_ptr<LimitKeeper> async_error_alone();

}  // namespace trainer
