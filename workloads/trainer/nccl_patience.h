// Patience: how long a caller of NCCL looks again. Nothing in NCCL has a limit, and its error state stays
// success when a peer is dead or elsewhere (over shared memory), so the limit is the caller's own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/trainer/collectives.h"

namespace trainer {

class NcclCommunicator;

// What may end any wait of a job's communicators: the world's and those made from it.
struct NcclJob {
  std::string store;                      // where failures are told
  bool tell_failures = false;             // tell them, and hear of the others'
  bool end_by_abort = false;              // of communicators in good order, too
  std::atomic<bool> interrupted = false;  // by the watchdog, from its own thread
  std::atomic<bool> broken = false;       // nothing of the job can be ended in good order any more
  std::vector<NcclCommunicator*> communicators;

  void tell(const std::string& text) const;
  std::string told() const;  // by a peer; "" when nothing was
};

class Patience {
 public:
  Patience(std::string operation, Limit limit, NcclJob& job);

  // Between two looks. Throws CollectiveError when there is to be no other one.
  void pause();

  // An operation that failed breaks its job; the others are told, where they are to be.
  [[noreturn]] void fail(const std::string& kind, const std::string& text) const;

  // Once NCCL's error state was asked, and said success.
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
