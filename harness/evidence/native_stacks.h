// native_stacks: the return addresses of every thread of a process, by ptrace and the unwind tables.
//
// A thread is seized and interrupted and gets no signal. If the tool dies in the middle, the kernel releases
// the thread; a thread that a signal had stopped stays stopped. A separate thread of the tool does all of
// this and then ends, because the kernel also releases the threads of a tracer that has ended.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/base/time.h"

namespace rankfault {

struct RawFrame {
  uint64_t address = 0;
  bool is_return_address = false;
};

struct NativeStacks {
  std::map<int, std::vector<RawFrame>> threads;  // by tid; innermost frame first
  std::string why_not;                           // "": all are complete
};

NativeStacks native_stacks(int pid, Duration limit);

}  // namespace rankfault
