// watchdog: one thread per process, which sleeps until the deadline of the call in progress.
//
// It does not poll an error state of the library, which reports nothing if a peer is stopped or in another
// call. It knows when the call began, and how long it may take.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>

#include "workloads/trainer/limit_keeper.h"

namespace trainer {

namespace {

using Clock = std::chrono::steady_clock;

class Watchdog : public LimitKeeper {
 public:
  explicit Watchdog(int rank) : rank_(rank), thread_([this] { watch(); }) {}

  ~Watchdog() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  void begin(const CallInFlight& call, std::function<void()> interrupt) override {
    const std::lock_guard lock(mutex_);
    call_ = call;
    interrupt_ = std::move(interrupt);
    fired_ = false;
    if (call.limit && deadline() < wakes_at_) changed_.notify_one();
  }

  // Waits for an interruption in progress, so that it cannot hit a later call.
  bool end() override {
    const std::lock_guard lock(mutex_);
    call_.reset();
    return fired_;
  }

 private:
  Clock::time_point deadline() const { return call_->begun + *call_->limit; }

  // A call that ends in time does not wake the thread. The thread finds the next call at the old deadline.
  void watch() {
    std::unique_lock lock(mutex_);
    while (!ending_) {
      const bool watching = call_ && call_->limit && !fired_;
      if (watching && Clock::now() >= deadline()) {
        fire();
        continue;
      }
      wakes_at_ = watching ? deadline() : Clock::time_point::max();
      if (watching) {
        changed_.wait_until(lock, wakes_at_);
      } else {
        changed_.wait(lock);
      }
    }
  }

  void fire() {
    fired_ = true;
    std::fprintf(stderr, "trainer: watchdog of rank %d: %s; it is interrupted\n", rank_,
                 call_->told().c_str());
    interrupt_();
  }

  int rank_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<CallInFlight> call_;
  std::function<void()> interrupt_;
  bool fired_ = false, ending_ = false;
  Clock::time_point wakes_at_ = Clock::time_point::max();
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace

std::unique_ptr<LimitKeeper> watchdog(int rank) { return std::make_unique<Watchdog>(rank); }

}  // namespace trainer
