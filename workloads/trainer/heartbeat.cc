// Heartbeat: waits for the limit, prints the stack of the watched thread, aborts.
#include "workloads/trainer/heartbeat.h"

#include <execinfo.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace trainer {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kDumpSignal = SIGUSR2;
constexpr auto kDumpTime =
    std::chrono::seconds(1);  // a thread that handles no signal in this time cannot print its stack
std::atomic<bool> dumped = false;

// Runs on the stuck thread, and makes only calls that a signal handler may make.
void dump_own_stack(int) {
  void* frames[64];
  const int count = backtrace(frames, 64);
  backtrace_symbols_fd(frames, count, STDERR_FILENO);
  dumped = true;
}

}  // namespace

Heartbeat::Heartbeat(int rank, std::chrono::milliseconds limit)
    : rank_(rank), limit_(limit), watched_(pthread_self()) {
  void* frames[1];
  backtrace(frames, 1);  // its first call loads a library, which a handler must not do
  struct sigaction action {};
  action.sa_handler = &dump_own_stack;
  action.sa_flags = SA_RESTART;
  sigaction(kDumpSignal, &action, nullptr);
  thread_ = std::thread([this] { watch(); });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ending_now_.notify_one();
  thread_.join();
}

void Heartbeat::beat(int64_t step) {
  const std::lock_guard lock(mutex_);
  step_ = step;
  last_ = Clock::now();
}

void Heartbeat::watch() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (Clock::now() >= last_ + limit_) dump_and_abort();
    ending_now_.wait_until(lock, last_ + limit_);
  }
}

void Heartbeat::dump_and_abort() {
  std::fprintf(stderr, "trainer: rank %d: no progress since step %lld for more than %lld ms; its stack:\n",
               rank_, static_cast<long long>(step_), static_cast<long long>(limit_.count()));
  const Clock::time_point until = Clock::now() + kDumpTime;
  pthread_kill(watched_, kDumpSignal);
  while (!dumped && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::abort();
}

}  // namespace trainer
