// Promptness: which threads of the tool run before the ranks on a processor, when, and for how long.
//
// A thread that only sleeps until a rank dies or asks at a gate has real-time priority, so that the recorded
// time of a death is the time of the death. The loop that reads, diagnoses and writes is an ordinary thread
// with a short slice. It borrows that priority twice: from the ring of a gate until the gate is answered, and
// after the death of a process for what is urgent then, until a finding is proven or 100 ms have passed.
//
// The sleeping threads and the gates share a budget of 1 % of a core. What follows a death has another 1 %,
// so that a look at many ranks does not make the next deaths late. A thread that exceeds its budget is
// ordinary until the budget has recovered.
#pragma once

#include <pthread.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <ctime>

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
  // `now`: the clock of the budgets and of the 100 ms; a test has its own.
  explicit Promptness(bool realtime, Instant (*now)() = HostClock::now);
  ~Promptness();
  Promptness(const Promptness&) = delete;
  Promptness& operator=(const Promptness&) = delete;

  // For small threads. Call `enter` before the first sleep, and `worked` before each later one.
  void enter();
  void worked();
  // A gate asks: if the loop sleeps, it runs before the ranks until it has called `answered`.
  void lend();
  // A process died: the loop runs before the ranks while it does what is urgent (see `rests`).
  void hurry();

  // For the loop. What follows `wakes` is urgent until `rests`.
  void sleeps();
  void wakes();
  void answered();
  bool hurries();  // a process died, and no finding is proven yet: what is not urgent has to wait
  void rests();
  void calm();  // a finding is proven: ends the hurry, but not that of a death since `wakes`

 private:
  // kLent and kHurries: with real-time priority. kRests: no death raises it before its next sleep.
  enum class Loop { kAsleep, kAwake, kRests, kLent, kHurries };
  bool hurries_at(Instant now);
  bool raise_loop();
  void take_back();
  void adjust(bool& raised);

  InheritingMutex mutex_;
  Instant (*const now_)();
  CpuBudget budget_, death_budget_;
  const bool ordinary_;  // the user started the tool with the ordinary policy; any other policy stays as it
                         // is
  const bool realtime_;
  const pid_t loop_;
  const clockid_t loop_clock_;  // the CPU time of the loop
  Loop state_ = Loop::kRests;
  Instant hurries_until_, known_until_;  // known_until_: the other as it was at `wakes`
  Duration charged_{};                   // the loop's CPU time that needs no charge
  rlimit before_{};
};

// True if $RANKFAULT_NO_REALTIME is not set. `--no-realtime` sets it, and the guardian also reads it.
bool realtime_wanted();

}  // namespace rankfault
