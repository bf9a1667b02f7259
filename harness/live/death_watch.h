// DeathWatch: one small thread that sleeps until a process dies, and records when it died and which processes
// outlived it.
//
// The loop may be busy, or wait for the CPU behind the ranks. If the loop dated the death when it saw it, the
// date would be later than the reactions of the other ranks, and the launcher might have ended them all by
// then.
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

  // A token is never used twice. `record`: path of the process's flight record. False: the process cannot be
  // watched here.
  bool add(int pidfd, uint64_t token, const ProcessId&, const std::string& record);
  void forget(uint64_t token);
  // The loop does not hurry when a quiet process dies, because that process is not a rank.
  void set_quiet(uint64_t token, bool quiet);
  int fd() const { return bell_.get(); }  // readable after a process has died
  struct Death {
    uint64_t token;
    Instant when;  // no two are equal
  };
  std::vector<Death> take();  // since the last call, the first death first
  // The last instant, directly after a death, at which this process was alive and nothing was about to end
  // it.
  Instant outlived(uint64_t token);

 private:
  struct Living {
    ProcessId process;
    Instant outlived;
    bool dead = false, quiet = false;
  };
  void watch();
  void note(const std::vector<uint64_t>& dead);
  void note_the_living();

  Promptness& promptness_;
  DeathOrder order_;
  UniqueFd bell_, stop_;
  InheritingMutex mutex_;
  std::vector<Death> dead_;
  Instant last_;  // when the newest of the dead processes died
  std::map<uint64_t, Living> watched_;
  EarlyDeaths early_;
  std::thread thread_;
};

}  // namespace rankfault
