// Promptness: which threads of the tool run before the ranks on a processor, when, and for how long.
//
// A thread that only sleeps until a rank dies or asks at a gate has real-time priority, so that the recorded
// time of a death is the time of the death. The loop that reads, diagnoses and writes is an ordinary thread
// with a short slice. It borrows that priority only from the ring of a gate until the gate is answered.
// Together these threads have one budget, 1 % of a core. A thread that exceeds it is ordinary until the
// budget has recovered.
#pragma once

#include <pthread.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>

#include "harness/base/time.h"

namespace rankfault {

// The CPU time that may be used. It grows by 1 % of the time that passes, up to the amount of one second.
class CpuBudget {
 public:
  explicit CpuBudget(Instant now) : seen_(now) {}
  void charge(Instant now, Duration used);
  // After exhaustion, stays false until a tenth of the budget has come back, so that no thread switches its
  // priority at every wake-up.
  bool allows(Instant now);

 private:
  static constexpr Duration kMost = 10ms;
  void grow(Instant now);

  Duration credit_ = kMost;
  Instant seen_;
  bool exhausted_ = false;
};

// A thread that waits for this lock gives its priority to the thread that holds it.
class InheritingMutex {
 public:
  InheritingMutex();
  ~InheritingMutex() { ::pthread_mutex_destroy(&mutex_); }
  InheritingMutex(const InheritingMutex&) = delete;
  InheritingMutex& operator=(const InheritingMutex&) = delete;
  void lock() { ::pthread_mutex_lock(&mutex_); }
  void unlock() { ::pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_;
};

// At most one exists at a time. The thread of the loop makes it when the guardian already runs, so nothing
// that is started for the job inherits a priority. Without the right to real-time priority all threads stay
// ordinary.
class Promptness {
 public:
  explicit Promptness(bool realtime);
  ~Promptness();
  Promptness(const Promptness&) = delete;
  Promptness& operator=(const Promptness&) = delete;

  // For small threads. Call `enter` before the first sleep, and `worked` before each later one.
  void enter();
  void worked();
  // A gate asks: if the loop sleeps, it runs before the ranks until it has called `answered`.
  void lend();

  // For the loop.
  void sleeps();
  void wakes();
  void answered();

 private:
  enum class Loop { kAwake, kAsleep, kLent };
  void charge_thread();
  void adjust(bool& raised);

  InheritingMutex mutex_;
  CpuBudget budget_;
  const bool ordinary_;  // the user started the tool with the ordinary policy; any other policy stays as it
                         // is
  const bool realtime_;
  const pid_t loop_;
  Loop state_ = Loop::kAwake;
  rlimit before_{};
};

// True if $RANKFAULT_NO_REALTIME is not set. `--no-realtime` sets it, and the guardian also reads it.
bool realtime_wanted();

}  // namespace rankfault
