// alarm_limit: setitimer, and a handler that only records that it ran.
#include <sys/time.h>

#include <csignal>

#include "workloads/trainer/limit_keeper.h"

namespace trainer {

namespace {

volatile std::sig_atomic_t rang = 0;

void ring(int) { rang = 1; }

void set_timer(std::chrono::milliseconds limit) {
  itimerval timer{};
  timer.it_value.tv_sec = limit.count() / 1000;
  timer.it_value.tv_usec = limit.count() % 1000 * 1000;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

class AlarmLimit : public LimitKeeper {
 public:
  // Without SA_RESTART, so that the signal interrupts every call that it can interrupt.
  AlarmLimit() {
    struct sigaction action {};
    action.sa_handler = &ring;
    sigaction(SIGALRM, &action, nullptr);
  }

  void begin(const CallInFlight& call, std::function<void()>) override {
    rang = 0;
    if (call.limit) set_timer(*call.limit);
  }

  bool end() override {
    set_timer({});
    return rang != 0;
  }
};

}  // namespace

std::unique_ptr<LimitKeeper> alarm_limit() { return std::make_unique<AlarmLimit>(); }

}  // namespace trainer
