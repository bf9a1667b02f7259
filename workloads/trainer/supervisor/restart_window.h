// RestartWindow: counts the failures of a job in a time window. A job with too many is not restarted.
// Failures older than the window do not count: a job of weeks may fail sometimes, but a job that fails
// constantly has a cause.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>

namespace trainer {

class RestartWindow {
 public:
  using Time = std::chrono::steady_clock::time_point;

  RestartWindow(size_t failures, std::chrono::milliseconds window) : allowed_(failures), window_(window) {}

  // True: restart. False: escalate, because the window already had the allowed number of failures.
  bool restart_after_failure(Time now) {
    while (!failures_.empty() && now - failures_.front() >= window_) failures_.pop_front();
    if (failures_.size() >= allowed_) return false;
    failures_.push_back(now);
    return true;
  }
  size_t in_window() const { return failures_.size(); }

 private:
  size_t allowed_;
  std::chrono::milliseconds window_;
  std::deque<Time> failures_;
};

}  // namespace trainer
