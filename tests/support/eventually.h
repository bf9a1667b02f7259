// eventually: waits for a state of another process or of the kernel, of which nothing tells when it comes.
#pragma once

#include <poll.h>

#include <functional>

#include "harness/base/time.h"

namespace rankfault::test {

// Looks every 2 ms, for at most 30 s. Returns whether the state came: a test that waits longer has failed.
inline bool eventually(const std::function<bool()>& condition) {
  const Instant deadline = HostClock::now() + 30s;
  while (!condition()) {
    if (HostClock::now() > deadline) return false;
    ::poll(nullptr, 0, 2);
  }
  return true;
}

}  // namespace rankfault::test
