// DeathWatch: one small thread that sleeps until a process dies, and notes when.
//
// The loop may be busy or wait for its turn behind the ranks: a death that was dated when the loop saw it
// would stand behind what the other ranks did about it.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "harness/base/unique_fd.h"
#include "harness/live/death_order.h"
#include "harness/live/promptness.h"

namespace rankfault {

class DeathWatch {
 public:
  explicit DeathWatch(Promptness&);
  ~DeathWatch();
  DeathWatch(const DeathWatch&) = delete;
  DeathWatch& operator=(const DeathWatch&) = delete;

  bool add(int pidfd, uint64_t token) {
    return order_.add(pidfd, token);
  }                                       // false: it cannot be watched here
  int fd() const { return bell_.get(); }  // readable once somebody has died
  struct Death {
    uint64_t token;
    TimeNs when;  // no two are equal
  };
  std::vector<Death> take();  // since the last call, the first death first

 private:
  void watch();

  Promptness& promptness_;
  DeathOrder order_;
  UniqueFd bell_, stop_;
  InheritingMutex mutex_;
  std::vector<Death> dead_;
  std::thread thread_;
};

}  // namespace rankfault
