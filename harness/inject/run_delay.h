// RunDelay: how long a thread of a process was ready to run but waited for a core, since a first look.
#pragma once

#include <map>

#include "harness/base/time.h"

namespace rankfault {

class RunDelay {
 public:
  explicit RunDelay(int pid = 0);        // takes the first look
  bool known() const { return known_; }  // false: this kernel keeps no such account, or the process is gone
  void look();                           // a thread that has ended since keeps its value of the last look
  Duration waited() const;               // of the thread that waited longest, since many short waits of
                                         // different threads are not one long wait

 private:
  struct Waited {
    Duration first{}, last{};
  };
  std::map<int, Duration> now() const;

  int pid_;
  bool known_ = false;
  std::map<int, Waited> threads_;
};

}  // namespace rankfault
