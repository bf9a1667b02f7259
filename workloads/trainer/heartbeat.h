// Heartbeat: a thread that ends this rank when it makes no progress.
//
// It is the last resort after all limits. A rank may be stuck where no limit of a collective applies: in a
// lock, in a loader, or in a library that ignores its own limit. The thread then prints the stack of the main
// thread and aborts. The launcher or the closed sockets free the other ranks.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace trainer {

class Heartbeat {
 public:
  // The thread whose progress it watches must construct it.
  Heartbeat(int rank, std::chrono::milliseconds limit);
  ~Heartbeat();

  void beat(int64_t step);

 private:
  void watch();
  [[noreturn]] void dump_and_abort();

  int rank_;
  std::chrono::milliseconds limit_;
  pthread_t watched_;
  std::mutex mutex_;
  std::condition_variable ending_now_;
  bool ending_ = false;
  int64_t step_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace trainer
