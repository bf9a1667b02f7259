// Promptness: which threads of the tool run before the ranks on a processor, when, and for how long.
//
// A thread that only sleeps until a rank dies or asks at a gate has real-time priority, so that the recorded
// time of a death is the time of the death. The loop that reads, diagnoses and writes is an ordinary thread
// with a short slice. It borrows that priority twice: from the ring of a gate until the gate is answered, and
// from the death of a process until a finding is proven, or for 100 ms.
// All of them together have one budget, 1 % of a core. The looks at deaths have another one, so that a look
// at many ranks does not make the next deaths late. A thread that exceeds its budget is ordinary until the
// budget has recovered.
#pragma once

#include <pthread.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>

#include "harness/base/time.h"

namespace rankfault {

// The CPU time that may be used. It grows by 1 % of the time that passes, up to `most`.
class CpuBudget {
 public:
  CpuBudget(Instant now, Duration most) : most_(most), credit_(most), seen_(now) {}
  void charge(Instant now, Duration used);
  // After exhaustion, stays false until a tenth of the budget has come back, so that no thread switches its
  // priority at every wake-up.
  bool allows(Instant now);

 private:
  void grow(Instant now);

  const Duration most_;
  Duration credit_;
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
  // A process died: the loop runs before the ranks until it calls `calm`, and for 100 ms at most.
  void hurry();

  // For the loop.
  void sleeps();
  void wakes();
  void answered();
  bool hurries();  // what is not about the death has to wait
  void rests();    // in a hurry: what follows, until the next sleep, is not urgent
  void calm();     // ends the hurry

 private:
  enum class Loop { kAwake, kAsleep, kLent, kHurries };  // the last two: with real-time priority
  void charge_thread(CpuBudget&);
  void raise_for_death();
  void take_back();
  void adjust(bool& raised);

  InheritingMutex mutex_;
  CpuBudget budget_, death_budget_;
  const bool ordinary_;  // the user started the tool with the ordinary policy; any other policy stays as it
                         // is
  const bool realtime_;
  const pid_t loop_;
  Loop state_ = Loop::kAwake;
  Instant hurries_until_;
  rlimit before_{};
};

// True if $RANKFAULT_NO_REALTIME is not set. `--no-realtime` sets it, and the guardian also reads it.
bool realtime_wanted();

}  // namespace rankfault
