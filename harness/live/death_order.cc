// death_order: see death_order.h. The kernel appends to epoll's ready list when a process becomes a zombie,
// and reads the list from its front.
#include "harness/live/death_order.h"

#include <sys/epoll.h>

#include <array>

namespace rankfault {

DeathOrder::DeathOrder() : fd_(::epoll_create1(EPOLL_CLOEXEC)) {}

// One-shot: epoll reports a pidfd only once, so its owner may close it at any time.
bool DeathOrder::add(int pidfd, uint64_t token) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = token;
  return fd_.valid() && ::epoll_ctl(fd_.get(), EPOLL_CTL_ADD, pidfd, &event) == 0;
}

std::vector<uint64_t> DeathOrder::take() {
  std::vector<uint64_t> dead;
  std::array<epoll_event, 64> events{};
  for (;;) {
    const int n = fd_.valid() ? ::epoll_wait(fd_.get(), events.data(), events.size(), 0) : 0;
    if (n <= 0) return dead;
    for (int i = 0; i < n; ++i) dead.push_back(events[static_cast<size_t>(i)].data.u64);
  }
}

}  // namespace rankfault
