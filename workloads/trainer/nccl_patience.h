// Patience: how long a caller of NCCL polls. NCCL has no limits, and over shared memory its error state stays
// success if a peer is dead or in another call. So the caller has its own limit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/trainer/collectives.h"

namespace trainer {

class NcclCommunicator;

// State that may end any wait on a job's communicators: the world's and those made from it.
struct NcclJob {
  std::string store;                      // where ranks report failures
  bool tell_failures = false;             // report failures, and read those of the peers
  bool end_by_abort = false;              // also end intact communicators by an abort
  std::atomic<bool> interrupted = false;  // set by the watchdog's thread
  std::atomic<bool> broken = false;       // the job's communicators can only be aborted
  std::vector<NcclCommunicator*> communicators;

  void tell(const std::string& text) const;
  std::string told() const;  // the failure that a peer reported; "": none
};

class Patience {
 public:
  Patience(std::string operation, Limit limit, NcclJob& job);

  // Waits between two polls. Throws CollectiveError if there must be no further poll.
  void pause();

  // A failed operation breaks its job. Reports the failure to the other ranks if tell_failures is set.
  [[noreturn]] void fail(const std::string& kind, const std::string& text) const;

  // Counts a read of NCCL's error state that returned success.
  void heard_success() { ++successes_; }

 private:
  [[noreturn]] void give_up(const std::string& kind, const std::string& text) const;

  std::string operation_;
  Limit limit_;
  NcclJob& job_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  uint64_t looks_ = 0, successes_ = 0;
};

}  // namespace trainer
