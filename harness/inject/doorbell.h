// Doorbell: turns the control page's futex into a descriptor that a poll loop can wait on.
//
// A futex cannot be polled together with pidfds, so one thread sleeps on it and writes an eventfd.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "harness/agent/agent_abi.h"
#include "harness/base/unique_fd.h"

namespace rankfault {

// Functions that its thread calls as well.
struct DoorbellHelp {
  std::function<void()> begins;  // at the start of the thread
  std::function<void()> rings;   // before the descriptor becomes readable
  std::function<void()> sleeps;  // before it sleeps again
};

class Doorbell {
 public:
  explicit Doorbell(rf_control*, DoorbellHelp = {});  // the page outlives the doorbell
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  int fd() const { return event_.get(); }  // readable after it rang
  void clear();                            // call before reading the slots

 private:
  void listen();

  rf_control* page_;
  UniqueFd event_;
  DoorbellHelp help_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace rankfault
