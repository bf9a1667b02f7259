// StopRequest: one lock-free flag.
#include "workloads/trainer/stop_request.h"

#include <signal.h>

#include <atomic>

namespace trainer {

namespace {

std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "only such a one may be set in a handler");

void note_request(int) { requested.store(true, std::memory_order_relaxed); }

}  // namespace

void take_stop_requests(bool once) {
  struct sigaction action {};
  action.sa_handler = note_request;
  action.sa_flags = SA_RESTART | (once ? static_cast<int>(SA_RESETHAND) : 0);
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool stop_requested() { return requested.load(std::memory_order_relaxed); }

}  // namespace trainer
