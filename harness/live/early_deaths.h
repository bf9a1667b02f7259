// EarlyDeaths: one small thread that sleeps until a signal kills a process, and reports the death before the
// kernel has freed the memory and closed the descriptors of that process (see harness/agent/death_notice.c).
//
// It reports a process only when /proc/PID/stat names the signal that ends it. The pidfd detects everything
// else: an exit, the end of a thread, an exec, a process without the notice.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/process_id.h"
#include "harness/live/promptness.h"

namespace rankfault {

class EarlyDeaths {
 public:
  // `report` gets the token of each process that a signal is ending, once. It runs on the thread of this
  // class.
  EarlyDeaths(Promptness&, std::function<void(uint64_t token)> report);
  ~EarlyDeaths();
  EarlyDeaths(const EarlyDeaths&) = delete;
  EarlyDeaths& operator=(const EarlyDeaths&) = delete;

  // `record`: path of the process's flight record. Does nothing if the record has no notice, if the kernel is
  // older than Linux 5.16, or if more processes are watched than one wait can take (127).
  void add(const std::string& record, const ProcessId&, uint64_t token);
  void forget(uint64_t token);

 private:
  struct Unmap {
    void operator()(void* header) const;
  };
  struct Watched {
    ProcessId process;
    std::unique_ptr<void, Unmap> word;  // in the record. Only the kernel reads it, because the file may have
                                        // been cut
    uint32_t alive = 0;                 // the value of the word while the thread lives
  };
  void watch();
  void sleep();
  std::vector<uint64_t> take_killed();
  void wake();

  Promptness& promptness_;
  const std::function<void(uint64_t)> report_;
  InheritingMutex mutex_;
  std::map<uint64_t, Watched> watched_;
  uint32_t changes_ = 0;  // a futex of this process: changes when the watched set changes or the watching is
                          // over
  bool over_ = false;
  std::thread thread_;
};

}  // namespace rankfault
