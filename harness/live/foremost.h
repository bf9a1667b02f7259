// Foremost: while it lives, the calling thread comes before the ranks on a processor.
//
// Ranks may be many more than cores. When one of them dies, who watches them must get its turn before all of
// them had theirs. Only root, or who may raise priorities, gets this; for others nothing changes.
//
// Processes started meanwhile would inherit it: make one only when the guardian, who starts the ranks, runs.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace rankfault {

class Foremost {
 public:
  Foremost() : before_(::getpriority(PRIO_PROCESS, thread())) {
    ::setpriority(PRIO_PROCESS, thread(), before_ - 10);
  }
  ~Foremost() { ::setpriority(PRIO_PROCESS, thread(), before_); }
  Foremost(const Foremost&) = delete;
  Foremost& operator=(const Foremost&) = delete;

 private:
  static id_t thread() { return static_cast<id_t>(::gettid()); }  // Linux has a nice value for each thread

  int before_;
};

}  // namespace rankfault
