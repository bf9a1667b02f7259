// Promptness: which threads of the tool come before the ranks on a processor, when, and for how long.
//
// A thread that only sleeps until a rank dies or asks at a gate has real-time priority, so that the time of a
// death is the time of the death. The loop that reads, diagnoses and writes is ordinary, with a short slice;
// it is lent that priority only from the ring of a gate until the gate is answered. All of it has one budget,
// 1 % of a core: a thread that exceeds it is ordinary until the budget has recovered.
#pragma once

#include <pthread.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>

#include "harness/base/time.h"

namespace rankfault {

// CPU time that may be used: it grows by 1 % of the time that passes, to what a second gives.
class CpuBudget {
 public:
  explicit CpuBudget(TimeNs now) : seen_(now) {}
  void charge(TimeNs now, uint64_t cpu_ns);
  // Exhausted it stays so until a tenth has come back: nobody goes to and fro with every waking.
  bool allows(TimeNs now);

 private:
  static constexpr int64_t kMost = 10'000'000;
  void grow(TimeNs now);

  int64_t credit_ = kMost;
  TimeNs seen_;
  bool exhausted_ = false;
};

// A thread that waits for a lock gives its priority to whoever holds it.
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

// One lives at a time, made by the thread of the loop, while the guardian runs already: nothing that is
// started for the job inherits anything. Without the right to real-time priority all threads stay ordinary.
class Promptness {
 public:
  explicit Promptness(bool realtime);
  ~Promptness();
  Promptness(const Promptness&) = delete;
  Promptness& operator=(const Promptness&) = delete;

  // For small threads. `enter` before the first sleep, `worked` before each later one.
  void enter();
  void worked();
  // A gate asks: the loop, when it sleeps, comes before the ranks until it has `answered`.
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
  const bool ordinary_;  // the user started the tool as usual; another policy stays as it is
  const bool realtime_;
  const pid_t loop_;
  Loop state_ = Loop::kAwake;
  rlimit before_{};
};

// $RANKFAULT_NO_REALTIME is not set: `--no-realtime` sets it, and the guardian reads it too.
bool realtime_wanted();

}  // namespace rankfault
