#include "harness/commands/interrupt.h"

#include <signal.h>

namespace rankfault {
namespace {

std::atomic<int> g_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

}  // namespace

const std::atomic<int>* catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { g_signal = signal; };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGHUP, &action, nullptr);
  return &g_signal;
}

}  // namespace rankfault
