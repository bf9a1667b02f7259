// ControlPage: the one file through which the harness and the agents communicate while the job runs.
#pragma once

#include <string>

#include "harness/agent/agent_abi.h"
#include "harness/base/result.h"
#include "harness/base/time.h"

namespace rankfault {

// Owns the mapping, not the file: the file belongs to the run directory. Movable, not copyable.
class ControlPage {
 public:
  static Result<ControlPage> create(const std::string& path, int world_size, Duration park_limit);
  ControlPage(ControlPage&&) noexcept;
  ControlPage& operator=(ControlPage&&) = delete;
  ~ControlPage();

  rf_control* get() const { return page_; }
  rf_control* operator->() const { return page_; }

  // Wakes every parked thread for good: no gate is answered any more.
  void harness_gone();

 private:
  explicit ControlPage(rf_control* page) : page_(page) {}
  rf_control* page_ = nullptr;
};

// Wakes all waiters on a futex word that other processes share.
void futex_wake(uint32_t* word);

}  // namespace rankfault
