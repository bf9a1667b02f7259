#include "harness/live/death_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "harness/base/assert.h"
#include "harness/base/process_tree.h"

namespace rankfault {
namespace {

// Deaths at shorter intervals are one event: the survivors are looked at once.
constexpr Duration kOneEvent = 5ms;
// Looking at more processes is not worth the time that the ranks would wait.
constexpr size_t kMostLooked = 256;

void ring(const UniqueFd& bell) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(bell.get(), &one, sizeof one);
}

}  // namespace

DeathWatch::DeathWatch(Promptness& promptness)
    : promptness_(promptness),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      early_(promptness, [this](uint64_t token) { note({token}); }) {
  RF_ASSERT(bell_.valid() && stop_.valid(), "no eventfd");
  thread_ = std::thread([this] { watch(); });
}

DeathWatch::~DeathWatch() {
  ring(stop_);
  thread_.join();
}

bool DeathWatch::add(int pidfd, uint64_t token, const ProcessId& process, const std::string& record) {
  {
    const std::lock_guard lock(mutex_);
    watched_[token].process = process;
  }
  early_.add(record, process, token);
  return order_.add(pidfd, token);
}

void DeathWatch::forget(uint64_t token) {
  early_.forget(token);
  const std::lock_guard lock(mutex_);
  watched_.erase(token);
}

void DeathWatch::set_quiet(uint64_t token, bool quiet) {
  const std::lock_guard lock(mutex_);
  if (const auto at = watched_.find(token); at != watched_.end()) at->second.quiet = quiet;
}

Instant DeathWatch::outlived(uint64_t token) {
  const std::lock_guard lock(mutex_);
  const auto at = watched_.find(token);
  return at == watched_.end() ? Instant{} : at->second.outlived;
}

std::vector<DeathWatch::Death> DeathWatch::take() {
  uint64_t rings = 0;
  [[maybe_unused]] const ssize_t n = ::read(bell_.get(), &rings, sizeof rings);
  const std::lock_guard lock(mutex_);
  return std::exchange(dead_, {});
}

void DeathWatch::watch() {
  promptness_.enter();
  pollfd polls[2] = {{order_.fd(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
  for (;;) {
    if (::poll(polls, 2, -1) < 0) continue;
    if (polls[1].revents != 0) return;
    note(order_.take());
    promptness_.worked();
  }
}

// A killed process comes twice: early, and when it is a zombie. The first time counts.
void DeathWatch::note(const std::vector<uint64_t>& dead) {
  const std::lock_guard lock(mutex_);
  const Instant before = last_;
  bool loud = false;
  for (const uint64_t token : dead) {
    const auto at = watched_.find(token);
    if (at == watched_.end() || std::exchange(at->second.dead, true)) continue;
    loud = loud || !at->second.quiet;
    last_ = std::max(HostClock::now(), last_ + 1ns);
    dead_.push_back({token, last_});
  }
  if (last_ == before) return;
  if (!is_known(before) || last_ > before + kOneEvent) note_the_living();
  if (loud && watched_.size() <= kMostLooked) promptness_.hurry();
  ring(bell_);
}

// Looks at each process after the deaths, and takes the time before the look: the process was alive at that
// time.
void DeathWatch::note_the_living() {
  if (watched_.size() > kMostLooked) return;
  for (auto& [token, one] : watched_) {
    if (one.dead) continue;
    const Instant now = HostClock::now();
    const auto stat = proc_stat(one.process.pid);
    if (stat && stat->start == one.process.start && stat->state != 'Z' && !stat->dying) one.outlived = now;
  }
}

}  // namespace rankfault
