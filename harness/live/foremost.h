// Foremost: while it lives, the calling thread comes before the ranks on a processor.
//
// Ranks may be many more than cores, and those that wait may yield without end: on Linux 6.18 four ranks that
// yield in MPI calls kept a thread of nice -10 from its turn for a minute. Hence the least of the real-time
// priorities; where that is not allowed a better nice value; where neither is, nothing changes.
//
// What is forked meanwhile is ordinary again (SCHED_RESET_ON_FORK), but would inherit a nice value: make one
// only when the guardian, who starts the ranks, runs.
#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace rankfault {

class Foremost {
 public:
  Foremost() : policy_(::sched_getscheduler(0)), before_(::getpriority(PRIO_PROCESS, thread())) {
    const sched_param least{1};
    ::sched_getparam(0, &param_);
    if (::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &least) != 0)
      ::setpriority(PRIO_PROCESS, thread(), before_ - 10);
  }
  ~Foremost() {
    // Not everybody who may raise itself may take the mark for forks back.
    if (::sched_setscheduler(0, policy_, &param_) != 0)
      ::sched_setscheduler(0, policy_ | SCHED_RESET_ON_FORK, &param_);
    ::setpriority(PRIO_PROCESS, thread(), before_);
  }
  Foremost(const Foremost&) = delete;
  Foremost& operator=(const Foremost&) = delete;

 private:
  static id_t thread() { return static_cast<id_t>(::gettid()); }  // Linux has a nice value for each thread

  int policy_;
  sched_param param_{};
  int before_;
};

}  // namespace rankfault
