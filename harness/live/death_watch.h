// DeathWatch: one small thread that sleeps until a process dies, and notes when, and who outlived it.
//
// The loop may be busy or wait for its turn behind the ranks. A death that was dated when the loop saw it
// would stand behind what the other ranks did about it, and by then the launcher may have ended them all.
#pragma once

#include <cstdint>
#include <map>
#include <thread>
#include <vector>

#include "harness/base/process_id.h"
#include "harness/base/unique_fd.h"
#include "harness/live/death_order.h"
#include "harness/live/early_deaths.h"
#include "harness/live/promptness.h"

namespace rankfault {

class DeathWatch {
 public:
  explicit DeathWatch(Promptness&);
  ~DeathWatch();
  DeathWatch(const DeathWatch&) = delete;
  DeathWatch& operator=(const DeathWatch&) = delete;

  // Tokens are not used twice. `record`: path of its flight record. False: it cannot be watched here.
  bool add(int pidfd, uint64_t token, const ProcessId&, const std::string& record);
  void forget(uint64_t token);
  int fd() const { return bell_.get(); }  // readable once somebody has died
  struct Death {
    uint64_t token;
    TimeNs when;  // no two are equal
  };
  std::vector<Death> take();  // since the last call, the first death first
  // The last instant, right after a death, at which this process was alive and nothing was about to end it.
  // 0: none.
  TimeNs outlived(uint64_t token);

 private:
  struct Living {
    ProcessId process;
    TimeNs outlived = 0;
  };
  void watch();
  void note(const std::vector<uint64_t>& dead);
  void note_the_living(const std::vector<uint64_t>& dead);

  Promptness& promptness_;
  DeathOrder order_;
  UniqueFd bell_, stop_;
  InheritingMutex mutex_;
  std::vector<Death> dead_;
  TimeNs last_ = 0;  // when the newest of them died
  std::map<uint64_t, Living> watched_;
  EarlyDeaths early_;
  std::thread thread_;
};

}  // namespace rankfault
