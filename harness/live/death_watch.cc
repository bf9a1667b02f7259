#include "harness/live/death_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "harness/base/assert.h"

namespace rankfault {
namespace {

void ring(const UniqueFd& bell) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(bell.get(), &one, sizeof one);
}

}  // namespace

DeathWatch::DeathWatch(Promptness& promptness)
    : promptness_(promptness),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  RF_ASSERT(bell_.valid() && stop_.valid(), "no eventfd");
  thread_ = std::thread([this] { watch(); });
}

DeathWatch::~DeathWatch() {
  ring(stop_);
  thread_.join();
}

std::vector<DeathWatch::Death> DeathWatch::take() {
  uint64_t rings = 0;
  [[maybe_unused]] const ssize_t n = ::read(bell_.get(), &rings, sizeof rings);
  const std::lock_guard lock(mutex_);
  return std::exchange(dead_, {});
}

void DeathWatch::watch() {
  promptness_.enter();
  TimeNs last = 0;
  pollfd polls[2] = {{order_.fd(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
  for (;;) {
    if (::poll(polls, 2, -1) < 0) continue;
    if (polls[1].revents != 0) return;
    for (const uint64_t token : order_.take()) {
      last = std::max(now_ns(), last + 1);
      const std::lock_guard lock(mutex_);
      dead_.push_back({token, last});
    }
    ring(bell_);
    promptness_.worked();
  }
}

}  // namespace rankfault
