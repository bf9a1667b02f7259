// native_stacks: the return addresses of every thread of a process, by ptrace and its unwind tables.
//
// A thread is seized and interrupted, never sent a signal: when we die in the middle the kernel lets it go,
// and one that was stopped by a signal stays so. All of it is done by a thread of our own that ends with it,
// since the kernel also releases what an ended tracer held.
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
  std::string why_not;                           // "" all are there
};

NativeStacks native_stacks(int pid, Duration limit);

}  // namespace rankfault
