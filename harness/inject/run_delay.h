// RunDelay: how long a thread of a process was ready to run but waited for a core, since a first look.
#pragma once

#include <cstdint>
#include <map>

namespace rankfault {

class RunDelay {
 public:
  explicit RunDelay(int pid = 0);        // takes the first look
  bool known() const { return known_; }  // false: this kernel keeps no such account, or the process is gone
  void look();                           // a thread that has ended since keeps its value of the last look
  uint64_t waited_ns() const;            // of the thread that waited longest, since many short waits of
                                         // different threads are not one long wait

 private:
  struct Waited {
    uint64_t first = 0, last = 0;
  };
  std::map<int, uint64_t> now() const;

  int pid_;
  bool known_ = false;
  std::map<int, Waited> threads_;
};

}  // namespace rankfault
