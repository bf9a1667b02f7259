#include "harness/commands/interrupt.h"

#include <signal.h>

namespace rankfault {
namespace {

std::atomic<int> g_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

}  // namespace

// A signal that was ignored when the tool started (nohup) stays ignored.
const std::atomic<int>* catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { g_signal = signal; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(signal, &action, nullptr);
  }
  return &g_signal;
}

}  // namespace rankfault
